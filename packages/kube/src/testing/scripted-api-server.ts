import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

/** A request as the server saw it. */
export interface ReceivedRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage["headers"];
  /** Parsed JSON, or undefined. */
  body: unknown;
}

/** Answers one request; whatever a server may do to a client can be done to `response`. */
export type RequestScript = (request: ReceivedRequest, response: ServerResponse) => void;

export interface ScriptedApiServer {
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  close: () => Promise<void>;
}

const readJson = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return chunks.length > 0 ? (JSON.parse(Buffer.concat(chunks).toString("utf8")) as unknown) : undefined;
};

/** A real HTTP server on loopback that answers by script. */
export const startScriptedApiServer = async (script: RequestScript): Promise<ScriptedApiServer> => {
  const requests: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://server");
    const { method = "GET", headers } = request;
    const received = { method, path: pathname, query: searchParams, headers, body: await readJson(request) };
    requests.push(received);
    script(received, response);
  };
  const server = createServer((request, response) => {
    receive(request, response).catch(() => response.destroy());
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
};

/** Sends JSON with a status code. */
export const sendJson = (response: ServerResponse, code: number, body: unknown): void => {
  response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(body));
};

/** Sends a Status, as an API server refuses. */
export const sendStatus = (response: ServerResponse, code: number, reason: string, message = reason): void => {
  sendJson(response, code, { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message });
};
