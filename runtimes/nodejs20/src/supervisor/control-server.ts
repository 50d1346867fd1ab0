import { createServer } from "node:http";
import type { Server, ServerResponse } from "node:http";

/** Why the pod takes no calls. */
export interface NotReady {
  readonly reason: string;
  readonly message: string;
}

export interface ControlState {
  readonly inFlight: number;
  readonly concurrency: number;
  readonly ready: boolean;
  readonly draining: boolean;
  readonly versionUid: string;
}

export interface ControlActions {
  notReady(): NotReady | undefined;
  state(): ControlState;
  drain(): void;
}

const answer = (response: ServerResponse, status: number, body: unknown): void => {
  const text = JSON.stringify(body);
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
  response.end(text);
};

/** Health, state and drain, on a port of their own that no forwarded call reaches (docs: security rule 13). */
export const createControlServer = (actions: ControlActions): Server => {
  const routes: Readonly<Record<string, (response: ServerResponse) => void>> = {
    "GET /livez": (response) => answer(response, 200, { status: "ok" }),
    "GET /readyz": (response) => {
      const notReady = actions.notReady();
      answer(response, notReady === undefined ? 200 : 503, notReady ?? { status: "ok" });
    },
    "GET /state": (response) => answer(response, 200, actions.state()),
    "POST /drain": (response) => {
      actions.drain();
      answer(response, 200, actions.state());
    },
  };
  return createServer({ requestTimeout: 10_000, headersTimeout: 10_000 }, (request, response) => {
    request.resume();
    const route = routes[`${request.method ?? ""} ${request.url ?? ""}`];
    if (route === undefined) answer(response, 404, { reason: "NotFound", message: "no such control path" });
    else route(response);
  });
};
