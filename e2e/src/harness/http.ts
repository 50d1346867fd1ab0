import { request, type Agent, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import type { Readable } from "node:stream";

export interface CallOptions {
  readonly method?: string;
  /** Request target as it goes over the wire. Default: path and query of the URL. */
  readonly target?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Buffer | Readable;
  readonly agent?: Agent | false;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  readonly text: string;
  /** The body read as JSON. */
  json(): Record<string, unknown>;
}

/** Begins a call; the answer's body is the caller's to read. */
export const open = (url: string, options: CallOptions = {}): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const { host, port, pathname, search } = new URL(url);
    const { method = "GET", target = pathname + search, headers = {}, body, timeoutMs = 30_000 } = options;
    const call = request({
      // Names below `localhost` need no resolver: the gateway routes by the Host header alone.
      host: "127.0.0.1",
      port,
      method,
      path: target,
      headers: { host, ...headers } as Record<string, string | string[]>,
      agent: options.agent ?? false,
      signal: options.signal ?? AbortSignal.timeout(timeoutMs),
    });
    call.once("error", reject);
    call.once("response", resolve);
    if (body === undefined || typeof body === "string" || Buffer.isBuffer(body)) call.end(body);
    else body.pipe(call);
  });

/**
 * Calls a URL of this machine, whatever its host name.
 * @throws when the connection breaks before the answer's end
 */
export const call = async (url: string, options: CallOptions = {}): Promise<Answer> => {
  const response = await open(url, options);
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  if (!response.complete) throw new Error(`${url}: the answer was cut`);
  const body = Buffer.concat(chunks);
  const text = body.toString("utf8");
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    rawHeaders: response.rawHeaders,
    body,
    text,
    json: () => JSON.parse(text) as Record<string, unknown>,
  };
};
