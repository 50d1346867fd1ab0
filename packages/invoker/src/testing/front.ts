import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createAnswerHeadReader, createRequestHeaderFilter } from "../headers.js";
import { createInvoker, type CallResult, type Invoker, type InvokerOptions } from "../invoker.js";
import type { EndpointAddress } from "../endpoint.js";

export const VERSION_UID = "5f0c1a52-0000-4000-8000-000000000001";
export const WORKLOADS = "sless-fn-sless-0123456789abcdef";

/** The least of a gateway around an invoker: every request becomes a call to one version. */
export interface Front {
  readonly invoker: Invoker;
  readonly port: number;
  readonly url: string;
  /** Ends of the calls so far. */
  readonly results: CallResult[];
  setEndpoints(...endpoints: EndpointAddress[]): void;
  /** What the calls to come are made with. */
  readonly settings: { concurrency: number; timeoutSec: number; tenant: string };
  close(): Promise<void>;
}

/** Opens a server whose requests are made into calls; a fault is answered by its status and reason alone. */
export const openFront = async (options: Partial<InvokerOptions> = {}): Promise<Front> => {
  const invoker = createInvoker({
    ...{ maxCalls: 100, maxQueuedPerVersion: 10, queueSeconds: 2, maxBodyBytes: 1024 * 1024 },
    ...options,
  });
  const settings = { concurrency: 10, timeoutSec: 10, tenant: "sless-0123456789abcdef" };
  const results: CallResult[] = [];
  const filter = createRequestHeaderFilter();
  const readHead = createAnswerHeadReader();
  let lastId = 0;
  const server = createServer((request, response) => {
    const serve = async (): Promise<void> => {
      const result = await invoker.invoke({
        ...{ request, response, readHead, ...settings },
        ...{ namespace: WORKLOADS, versionUid: VERSION_UID, context: "e30", answerHeaders: [] },
        requestId: `request-${++lastId}`,
        path: request.url ?? "/",
        host: request.headers.host ?? "",
        headers: filter(request.rawHeaders, request.headers.connection),
      });
      results.push(result);
      if (result.fault === undefined || result.answerBegun || response.destroyed) return;
      response.writeHead(599, { reason: result.fault.reason, source: result.fault.source });
      response.end(JSON.stringify(result.fault));
    };
    void serve();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    invoker,
    port,
    url: `http://127.0.0.1:${port}`,
    results,
    settings,
    setEndpoints: (...endpoints) => invoker.setEndpoints(WORKLOADS, VERSION_UID, endpoints),
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
      invoker.close();
    },
  };
};
