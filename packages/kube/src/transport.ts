import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Connection } from "./connection.js";
import { createDeadline, type Deadline } from "./deadline.js";
import { KubeError, makeApiError, parseStatus, TimeoutError, TransportError } from "./errors.js";

/** One HTTP request to the API server. `what` names it in errors: `get Deployment a/b`. */
export interface ApiRequest {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  what: string;
  query?: Record<string, string | number | boolean | undefined>;
  body?: unknown;
  contentType?: string;
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
}

/** A stream whose head was good. The caller restarts the deadline as data comes and disposes it at the end. */
export interface OpenStream {
  body: IncomingMessage;
  deadline: Deadline;
}

export interface Transport {
  /** Answer's JSON. Throws typed errors. */
  json: (request: ApiRequest) => Promise<unknown>;
  stream: (request: ApiRequest) => Promise<OpenStream>;
  close: () => void;
}

export const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_BODY_BYTES = 64 * 1024 * 1024;
const MAX_ERROR_BYTES = 256 * 1024;

const targetOf = (base: URL, request: ApiRequest): string => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(request.query ?? {})) {
    if (value !== undefined) query.set(name, String(value));
  }
  const search = query.size > 0 ? `?${query.toString()}` : "";
  return `${base.pathname.replace(/\/$/, "")}${request.path}${search}`;
};

const readBody = async (response: IncomingMessage, limit: number, what: string): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) throw new TransportError(`${what}: the answer is larger than ${limit} bytes; list in pages`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

const parseJson = (body: Buffer): unknown => {
  const text = body.toString("utf8");
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
};

/** The abort's reason when there was one, else the socket's error, typed. */
const failureOf = (error: unknown, deadline: Deadline, what: string): unknown => {
  if (error instanceof KubeError) return error;
  if (deadline.signal.aborted) return deadline.signal.reason;
  return new TransportError(`${what}: connection to the API server failed: ${String(error)}`, { cause: error });
};

const isReset = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === "ECONNRESET";

/** Requests over keep-alive connections, each bounded in time and size. */
export const createTransport = (connection: Connection): Transport => {
  const { baseUrl, callAgent, streamAgent } = connection;
  const secure = baseUrl.protocol === "https:";

  const send = async (request: ApiRequest, deadline: Deadline, streaming: boolean): Promise<IncomingMessage> => {
    const payload = request.body === undefined ? undefined : Buffer.from(JSON.stringify(request.body));
    const headers: Record<string, string | number> = {
      accept: "application/json",
      "user-agent": "sless",
      ...(await connection.authHeaders()),
      ...(payload && { "content-type": request.contentType ?? "application/json", "content-length": payload.length }),
    };
    return new Promise((resolve, reject) => {
      const outgoing = (secure ? httpsRequest : httpRequest)({
        protocol: baseUrl.protocol,
        hostname: baseUrl.hostname.replace(/^\[|\]$/g, ""),
        port: baseUrl.port,
        path: targetOf(baseUrl, request),
        method: request.method,
        headers,
        agent: streaming ? streamAgent : callAgent,
        signal: deadline.signal,
      });
      outgoing.on("response", resolve);
      outgoing.on("error", reject);
      outgoing.end(payload);
    });
  };

  /** The server may close a kept-alive socket just when we write to it: only reads are safe to send again. */
  const sendOnceMore = async (
    request: ApiRequest,
    deadline: Deadline,
    streaming: boolean,
  ): Promise<IncomingMessage> => {
    try {
      return await send(request, deadline, streaming);
    } catch (error) {
      if (request.method !== "GET" || !isReset(error) || deadline.signal.aborted) throw error;
      return send(request, deadline, streaming);
    }
  };

  const open = async (request: ApiRequest, deadline: Deadline, streaming: boolean): Promise<IncomingMessage> => {
    const response = await sendOnceMore(request, deadline, streaming);
    const code = response.statusCode ?? 0;
    if (code >= 200 && code < 300) return response;
    const body = parseJson(await readBody(response, MAX_ERROR_BYTES, request.what));
    throw makeApiError(request.what, parseStatus(body, code < 400 ? 500 : code));
  };

  const run = async <R>(request: ApiRequest, use: (deadline: Deadline) => Promise<R>, keep: boolean): Promise<R> => {
    const timeoutMs = request.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    const onTimeout = (): Error =>
      new TimeoutError(`${request.what}: no answer from the API server in ${timeoutMs} ms`);
    const deadline = createDeadline(timeoutMs, onTimeout, request.signal);
    try {
      deadline.signal.throwIfAborted();
      const result = await use(deadline);
      if (!keep) deadline.dispose();
      return result;
    } catch (error) {
      deadline.dispose();
      throw failureOf(error, deadline, request.what);
    }
  };

  return {
    json: (request) =>
      run(
        request,
        async (deadline) => {
          const response = await open(request, deadline, false);
          return parseJson(await readBody(response, MAX_BODY_BYTES, request.what));
        },
        false,
      ),
    stream: (request) =>
      run(request, async (deadline) => ({ body: await open(request, deadline, true), deadline }), true),
    close: () => {
      callAgent.destroy();
      streamAgent.destroy();
    },
  };
};
