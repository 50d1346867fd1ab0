import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { HEADERS, type ActiveTarget } from "@sless/contracts";
import { createAnswerHeadReader, createRequestHeaderFilter } from "@sless/invoker";
import type { HostRoute } from "../routing/routes.js";
import type { RoutingTable } from "../routing/routing-table.js";
import { encodeCallContext } from "./call-context.js";
import type { ClientAddressReader } from "./client-address.js";
import type { RequestHandler } from "./listener.js";
import { makeErrorAnswer, writeProblem, type ErrorAnswer } from "./problem.js";
import { findAmbiguity } from "./request-guard.js";
import { parseRequestTarget, type RequestTarget } from "./request-target.js";
import { serveCall, type ServeDeps } from "./serve-call.js";

export interface PublicDeps extends ServeDeps {
  readonly table: RoutingTable;
  readonly readClientAddress: ClientAddressReader;
}

/** What proxies say of a client is told anew by this gateway, as far as it is believed. */
const FORWARDING_HEADERS = [
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-port",
  "x-forwarded-proto",
  "x-real-ip",
];

/** One text for a host nobody holds and a path that leads nowhere: it does not tell which hosts exist. */
const NOT_FOUND = makeErrorAnswer("not-found", "unmatched", "No function answers at this host and path.");
const BAD_TARGET = makeErrorAnswer("invalid-request", "bad-request", "The request target must be a path.", {
  close: true,
});
const NO_WEBSOCKET = makeErrorAnswer("not-implemented", "upgrade", "Functions can't take WebSocket connections.");
const NOT_SERVING = makeErrorAnswer("unavailable", "not-serving", "The function has no version that answers yet.", {
  retryAfterSec: 5,
});

const refuseMethod = (method: string, allowed: ReadonlySet<string> | undefined): ErrorAnswer | undefined => {
  if (allowed === undefined || allowed.has(method)) return undefined;
  const allow = [...allowed].join(", ");
  const detail = `The trigger takes ${allow}, not ${method.slice(0, 32)}.`;
  return makeErrorAnswer("method-not-allowed", "method-not-allowed", detail, { headers: { allow } });
};

const refuseAmbiguity = (why: string): ErrorAnswer =>
  makeErrorAnswer("invalid-request", "bad-request", `The request is ambiguous: ${why}.`, { close: true });

const isWebSocket = ({ headers }: IncomingMessage): boolean => headers.upgrade?.toLowerCase() === "websocket";

/** Where the request goes, or why it can't. */
const findRoute = (
  table: RoutingTable,
  request: IncomingMessage,
): { route: HostRoute; target: RequestTarget } | ErrorAnswer => {
  const ambiguity = findAmbiguity(request);
  if (ambiguity !== undefined) return refuseAmbiguity(ambiguity);
  const target = parseRequestTarget(request.url ?? "", request.headers.host ?? "");
  if (target === undefined) return BAD_TARGET;
  const route = table.match(target.host, target.path);
  if (route === undefined) return NOT_FOUND;
  if (isWebSocket(request)) return NO_WEBSOCKET;
  return refuseMethod(request.method ?? "", route.methods) ?? { route, target };
};

const chooseVersion = ({ tag, function: { split } }: HostRoute): ActiveTarget | undefined =>
  tag === undefined ? split.next() : split.targets.find((target) => target.tag === tag);

/** Serves HTTP triggers: host and path to a trigger, its function, one of its versions. */
export const createPublicHandler = (deps: PublicDeps): RequestHandler => {
  const filterHeaders = createRequestHeaderFilter({ also: FORWARDING_HEADERS });
  const readHead = createAnswerHeadReader();

  const call = (request: IncomingMessage, response: ServerResponse, requestId: string): Promise<void> | ErrorAnswer => {
    const found = findRoute(deps.table, request);
    if (!("route" in found)) return found;
    const { route, target } = found;
    const version = chooseVersion(route);
    if (version === undefined) return NOT_SERVING;
    const client = deps.readClientAddress(request);
    const { host } = target;
    const headers = filterHeaders(request.rawHeaders, request.headers.connection);
    headers.push("x-forwarded-for", client.forwardedFor, "x-forwarded-proto", client.proto);
    const trigger = { type: "http", name: route.trigger } as const;
    const account = { listener: "public", functionKey: route.function.key, version: version.version } as const;
    return serveCall(deps, account, {
      request,
      response,
      requestId,
      tenant: route.tenant,
      namespace: route.function.workloads,
      versionUid: version.uid,
      timeoutSec: version.timeoutSec,
      concurrency: version.concurrency,
      path: target.url,
      host,
      headers,
      context: encodeCallContext(request, { sourceIp: client.ip, host, trigger }),
      readHead,
      answerHeaders: [HEADERS.requestId, requestId, HEADERS.version, String(version.version)],
    });
  };

  return (request, response) => {
    const requestId = randomUUID();
    const outcome = call(request, response, requestId);
    if (outcome instanceof Promise) return settle(deps, outcome, { request, response, requestId });
    deps.meter.recordRefusal("public", outcome.reason);
    writeProblem(request, response, requestId, outcome);
  };
};

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
}

/** A fault of this program must neither end the process nor leave a client without an answer. */
export const settle = (deps: ServeDeps, served: Promise<void>, { request, response, requestId }: Exchange): void => {
  served.catch((error: unknown) => {
    deps.logger.error({ err: error, requestId }, "call failed inside the gateway");
    if (response.headersSent) response.destroy();
    const detail = "The gateway failed on this call. Its operator finds it in the log by the request id.";
    writeProblem(request, response, requestId, makeErrorAnswer("internal", "internal", detail));
  });
};
