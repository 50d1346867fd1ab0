import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { HEADERS, RUNTIME_FAULTS, type RuntimeFault } from "@sless/contracts";
import type { EndpointAddress } from "../endpoint.js";

/** A call as a pod received it, with the body read whole. */
export interface ReceivedCall {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

export type Script = (call: ReceivedCall, response: ServerResponse, socket: Socket) => void | Promise<void>;

export interface ScriptedRuntime {
  readonly endpoint: EndpointAddress;
  /** Calls whose body reached the handler, in order. */
  readonly calls: readonly ReceivedCall[];
  /** Connections that were ever opened. */
  readonly connections: number;
  readonly openConnections: number;
  /** What the handler does from now on. */
  script: Script;
  /** Refuses the next calls before their body is read, one fault each; "reset" ends the connection instead. */
  refuseNext(...faults: (RuntimeFault | "reset")[]): void;
  /** Ends as a killed process does: every connection is reset. */
  kill(): Promise<void>;
}

const readBody = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};

const answerFault = (response: ServerResponse, fault: RuntimeFault): void => {
  response.writeHead(RUNTIME_FAULTS[fault].status, { [HEADERS.fault]: fault, "content-type": "application/json" });
  response.end(JSON.stringify({ errorType: "Refused", errorMessage: `refused: ${fault}` }));
};

/** Answers with what was received. */
export const echo: Script = ({ method, url, headers, body }, response) => {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ method, url, headers, body: body.toString("utf8") }));
};

/**
 * A pod for tests: a real HTTP server that speaks the runtime's protocol and does what its script says.
 * @param versionUid what it says it is
 * @param podUid distinguishes pods at the same address
 */
export const startScriptedRuntime = async (
  versionUid: string,
  { podUid = `pod-${Math.random()}`, script = echo }: { podUid?: string; script?: Script } = {},
): Promise<ScriptedRuntime> => {
  const calls: ReceivedCall[] = [];
  const refusals: (RuntimeFault | "reset")[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const runtime = { script };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    response.setHeader(HEADERS.versionUid, versionUid);
    const refusal = refusals.shift();
    if (refusal === "reset") return void request.socket.resetAndDestroy();
    if (refusal !== undefined) return answerFault(response, refusal);
    const body = await readBody(request);
    const { method = "", url = "", headers, rawHeaders } = request;
    const call = { method, url, headers, rawHeaders, body };
    calls.push(call);
    response.setHeader(HEADERS.runMs, "1");
    await runtime.script(call, response, request.socket);
  };

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  server.on("connection", (socket) => {
    connections++;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: { podUid, address: "127.0.0.1", port, ready: true, terminating: false },
    calls,
    get connections() {
      return connections;
    },
    get openConnections() {
      return sockets.size;
    },
    get script() {
      return runtime.script;
    },
    set script(next) {
      runtime.script = next;
    },
    refuseNext: (...faults) => void refusals.push(...faults),
    kill: async () => {
      const closed = once(server, "close");
      server.close();
      // Resetting a socket whose end is being sent leaks its handle, and Node.js 20 then never ends: see docs/errors.md.
      for (const socket of sockets) {
        if (socket.writableEnded) socket.destroy();
        else socket.resetAndDestroy();
      }
      await closed;
    },
  };
};
