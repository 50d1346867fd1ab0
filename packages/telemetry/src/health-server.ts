import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Metrics } from "./metrics.js";

/** Whether a check passed; `reason` says to a person why not. */
export interface Health {
  readonly ok: boolean;
  readonly reason?: string;
}
export type HealthCheck = () => Health | Promise<Health>;

export interface HealthServer {
  /** Where it really listens, also when port 0 was asked for. */
  readonly address: { readonly host: string; readonly port: number };
  close(): Promise<void>;
}

interface HealthServerOptions {
  readonly address: { readonly host: string; readonly port: number };
  /** Fails only when a restart would help. */
  readonly live: HealthCheck;
  /** Fails while no traffic should come. */
  readonly ready: HealthCheck;
  readonly metrics: Metrics;
}

/** A check that hangs counts as failed; kubelet's own default timeout is one second. */
const CHECK_TIMEOUT_MS = 900;

const bounded = async (check: HealthCheck): Promise<Health> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Health>((resolve) => {
    timer = setTimeout(() => resolve({ ok: false, reason: `no answer in ${CHECK_TIMEOUT_MS} ms` }), CHECK_TIMEOUT_MS);
  });
  try {
    return await Promise.race([check(), late]);
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  } finally {
    clearTimeout(timer);
  }
};

const answer = (response: ServerResponse, status: number, contentType: string, body: string): void => {
  response.writeHead(status, { "content-type": contentType, "cache-control": "no-store" }).end(body);
};

const answerHealth = async (response: ServerResponse, check: HealthCheck): Promise<void> => {
  const health = await bounded(check);
  answer(response, health.ok ? 200 : 503, "application/json", JSON.stringify(health));
};

/**
 * Serves `/livez`, `/readyz` (200 or 503 with JSON `{ok, reason}`) and `/metrics` on a listener of their own, which
 * public traffic never reaches.
 * @throws the listen error, such as EADDRINUSE.
 */
export const createHealthServer = async (options: HealthServerOptions): Promise<HealthServer> => {
  const routes: Readonly<Record<string, (response: ServerResponse) => Promise<void>>> = {
    "/livez": (response) => answerHealth(response, options.live),
    "/readyz": (response) => answerHealth(response, options.ready),
    "/metrics": async (response) => answer(response, 200, options.metrics.contentType, await options.metrics.text()),
  };
  const server = createServer((request, response) => {
    const path = (request.url ?? "/").split("?", 1)[0] ?? "/";
    const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
    if (route === undefined) return answer(response, 404, "text/plain", "only /livez, /readyz and /metrics are here\n");
    route(response).catch((error: unknown) => {
      answer(response, 500, "text/plain", error instanceof Error ? error.message : String(error));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.address.port, options.address.host, resolve);
  });
  const { address, port } = server.address() as AddressInfo;
  return {
    address: { host: address, port },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
