import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { Pool, type Dispatcher } from "undici";
import { announce, upstreamPort } from "./measured-process.js";

/**
 * The baseline: a reverse proxy as one writes it by hand over `undici.dispatch`. It streams both ways, passes headers
 * on, and does no more than HTTP demands: no routing, request ids, deadlines, limits, accounting or retries.
 */
const NOT_PASSED_ON = new Set(["connection", "keep-alive", "transfer-encoding", "upgrade", "host", "expect"]);

const requestHeaders = ({ rawHeaders }: IncomingMessage): string[] => {
  const kept: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (!NOT_PASSED_ON.has(name.toLowerCase())) kept.push(name, rawHeaders[index + 1] as string);
  }
  return kept;
};

const answerHeaders = (raw: Buffer[]): string[] => {
  const kept: string[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    const name = String(raw[index]);
    if (!NOT_PASSED_ON.has(name.toLowerCase())) kept.push(name, (raw[index + 1] as Buffer).toString("latin1"));
  }
  return kept;
};

const pool = new Pool(`http://127.0.0.1:${upstreamPort()}`, { headersTimeout: 0, bodyTimeout: 0 });

const server = createServer((request, response) => {
  const hasBody = request.headers["content-length"] !== undefined || request.headers["transfer-encoding"] !== undefined;
  const handler: Dispatcher.DispatchHandler = {
    onConnect: (abort) => void response.on("close", () => response.writableEnded || abort()),
    onHeaders: (status, raw) => {
      response.writeHead(status, answerHeaders(raw));
      return true;
    },
    onData: (chunk) => response.write(chunk),
    onComplete: () => void response.end(),
    onError: () => void response.destroy(),
  };
  const method = request.method as Dispatcher.HttpMethod;
  const headers = requestHeaders(request);
  pool.dispatch({ method, path: request.url ?? "/", headers, body: hasBody ? request : null }, handler);
});
server.listen(0, "127.0.0.1", () => announce((server.address() as AddressInfo).port));
