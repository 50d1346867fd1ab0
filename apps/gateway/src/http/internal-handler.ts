import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { HEADERS, type ActiveTarget, type CallerClaims } from "@sless/contracts";
import { createAnswerHeadReader, createRequestHeaderFilter } from "@sless/invoker";
import type { FunctionRoute } from "../routing/routes.js";
import type { RoutingTable } from "../routing/routing-table.js";
import { encodeCallContext } from "./call-context.js";
import type { CallerTokenReader } from "./caller-token.js";
import type { ClientAddressReader } from "./client-address.js";
import type { RequestHandler } from "./listener.js";
import { makeErrorAnswer, writeProblem, type ErrorAnswer } from "./problem.js";
import { settle } from "./public-handler.js";
import { findAmbiguity } from "./request-guard.js";
import { serveCall, type ServeDeps } from "./serve-call.js";

export interface InternalDeps extends ServeDeps {
  readonly table: RoutingTable;
  readonly readCallerToken: CallerTokenReader;
  readonly readClientAddress: ClientAddressReader;
}

/** `/invoke/<tenant namespace>/<function>[/path…][?query]`; the rest is the function's, raw. */
const INVOKE = /^\/invoke\/([a-z0-9-]{1,63})\/([a-z0-9-]{1,63})(?=[/?]|$)/;

/** Credentials for the API are none of the function's business (security 20). */
const NOT_FOR_FUNCTIONS = ["authorization", "cookie", "forwarded", "x-forwarded-for", "x-forwarded-proto", "x-real-ip"];

/** What an answer could do to the API's own origin, on which it is shown (security 20). */
const NOT_FOR_CALLERS = [
  "set-cookie",
  "strict-transport-security",
  "clear-site-data",
  "service-worker-allowed",
  "x-content-type-options",
];
const SANDBOX = ["content-security-policy", "sandbox", "x-content-type-options", "nosniff"];
const SANDBOX_HEADERS = { "content-security-policy": "sandbox" };

const UNAUTHENTICATED = makeErrorAnswer(
  "unauthenticated",
  "caller",
  `${HEADERS.caller} holds no valid token of the API.`,
);
const NOT_FOUND = makeErrorAnswer("not-found", "unmatched", "Paths here are /invoke/<tenant namespace>/<function>.");
const FORBIDDEN = makeErrorAnswer("forbidden", "caller", "The caller's token is for another namespace.");
const AMBIGUOUS = makeErrorAnswer("invalid-request", "bad-request", "The request is ambiguous.", { close: true });

const refuseFunction = (name: string): ErrorAnswer =>
  makeErrorAnswer("not-found", "unmatched", `There is no function ${name}.`);

interface Resolved {
  readonly function: FunctionRoute;
  readonly path: string;
}
interface Invocation extends Resolved {
  readonly caller: CallerClaims;
  readonly version: ActiveTarget;
}

const headerOf = (request: IncomingMessage, name: string): string | undefined => {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(",") : value;
};

/** The version that was asked for by tag or number, or the one whose turn it is. */
const chooseVersion = (request: IncomingMessage, { name, split }: FunctionRoute): ActiveTarget | ErrorAnswer => {
  const tag = headerOf(request, HEADERS.invokeTag);
  const number = headerOf(request, HEADERS.invokeVersion);
  if (tag === undefined && number === undefined) {
    const detail = `Function ${name} has no version that answers yet.`;
    return split.next() ?? makeErrorAnswer("unavailable", "not-serving", detail, { retryAfterSec: 5 });
  }
  const isWanted = (target: ActiveTarget): boolean =>
    (tag === undefined || target.tag === tag) && (number === undefined || String(target.version) === number);
  const detail = `Function ${name} has no live version of that ${tag === undefined ? "number" : "tag"}.`;
  return split.targets.find(isWanted) ?? makeErrorAnswer("not-found", "unmatched", detail);
};

/** The function that a target names and the path that it shall see. */
const resolveTarget = (table: RoutingTable, url: string, caller: CallerClaims): Resolved | ErrorAnswer => {
  const match = INVOKE.exec(url);
  if (match === null) return NOT_FOUND;
  const [prefix, tenant = "", name = ""] = match;
  if (tenant !== caller.ns) return FORBIDDEN;
  const found = table.functionOf(tenant, name);
  if (found === undefined) return refuseFunction(name);
  const rest = url.slice(prefix.length);
  return { function: found, path: rest.startsWith("/") ? rest : `/${rest}` };
};

/** Serves what the API forwards for its callers. It is data, not control: the API has decided who may invoke what. */
export const createInternalHandler = (deps: InternalDeps): RequestHandler => {
  const filterHeaders = createRequestHeaderFilter({ also: NOT_FOR_FUNCTIONS });
  const readHead = createAnswerHeadReader({ also: NOT_FOR_CALLERS });

  const find = (request: IncomingMessage): Invocation | ErrorAnswer => {
    if (findAmbiguity(request) !== undefined) return AMBIGUOUS;
    const caller = deps.readCallerToken(headerOf(request, HEADERS.caller));
    if (caller === undefined) return UNAUTHENTICATED;
    const resolved = resolveTarget(deps.table, request.url ?? "", caller);
    if ("kind" in resolved) return resolved;
    const version = chooseVersion(request, resolved.function);
    return "kind" in version ? version : { ...resolved, caller, version };
  };

  const call = (request: IncomingMessage, response: ServerResponse, requestId: string): Promise<void> | ErrorAnswer => {
    const found = find(request);
    if ("kind" in found) return found;
    // The API has proved who it is, so its word on the client's address is taken.
    const client = deps.readClientAddress(request, true);
    const host = request.headers.host ?? "";
    const headers = filterHeaders(request.rawHeaders, request.headers.connection);
    headers.push("x-forwarded-for", client.forwardedFor, "x-forwarded-proto", client.proto);
    const { function: called, version } = found;
    const context = { sourceIp: client.ip, host, trigger: { type: "invoke" }, caller: found.caller.sub } as const;
    const account = { listener: "internal", functionKey: called.key, version: version.version } as const;
    return serveCall(deps, account, {
      request,
      response,
      requestId,
      tenant: called.tenant,
      namespace: called.workloads,
      versionUid: version.uid,
      timeoutSec: version.timeoutSec,
      concurrency: version.concurrency,
      path: found.path,
      host,
      headers,
      context: encodeCallContext(request, context),
      readHead,
      answerHeaders: [HEADERS.requestId, requestId, HEADERS.version, String(version.version), ...SANDBOX],
    });
  };

  return (request, response) => {
    const requestId = randomUUID();
    const outcome = call(request, response, requestId);
    if (outcome instanceof Promise) return settle(deps, outcome, { request, response, requestId });
    deps.meter.recordRefusal("internal", outcome.reason);
    writeProblem(request, response, requestId, { ...outcome, headers: { ...outcome.headers, ...SANDBOX_HEADERS } });
  };
};
