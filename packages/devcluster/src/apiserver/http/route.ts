import type { IncomingMessage, ServerResponse } from "node:http";
import { ApiStatusError } from "../../store/api-status-error.js";
import type { ResourceType, Subresource, Verb } from "../../store/types.js";
import { SUBRESOURCE_VERBS } from "../discovery/discovery.js";
import type { ServedStore } from "../served-store.js";
import { handleDelete, handleDeleteCollection } from "./delete.js";
import { sendJson, type Answer, type Exchange } from "./exchange.js";
import { handleList } from "./list.js";
import { handlePatch } from "./patch.js";
import { handlePodLog, type PodLogs } from "./pod-log.js";
import type { ResourcePath } from "./request-info.js";
import { handleScale } from "./scale.js";
import { handleWatch } from "./watch.js";
import { handleCreate, handleGet, handleUpdate } from "./write.js";

export interface RouteDeps {
  store: ServedStore;
  podLogs: PodLogs;
}

/** Answers, or has streamed its answer itself. */
type Handler = (exchange: Exchange, deps: RouteDeps) => Promise<Answer | undefined> | Answer | undefined;

const HANDLERS: Readonly<Record<Verb, Handler>> = {
  get: handleGet,
  list: handleList,
  watch: (exchange) => void handleWatch(exchange),
  create: handleCreate,
  update: handleUpdate,
  patch: handlePatch,
  delete: handleDelete,
  deletecollection: handleDeleteCollection,
};

const notServed = (what: string): ApiStatusError =>
  new ApiStatusError(
    404,
    "NotFound",
    `the server could not find the requested resource (the embedded cluster does not serve ${what})`,
    {},
  );

const methodNotAllowed = (): ApiStatusError =>
  new ApiStatusError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {});

/** What these would need is a container; here a pod is a process of this machine. */
const REFUSED_POD_SUBRESOURCES: Readonly<Record<string, string>> = {
  exec: "open a shell on this machine instead: the pod is a local process",
  attach: "use `kubectl logs -f` instead: the pod is a local process",
  portforward: "dial the pod's own loopback address (status.podIP) instead",
  eviction: "delete the pod instead",
  binding: "pods are bound to the one node by themselves",
};

/** What a method means on one object, and on a collection. */
const VERBS: Readonly<Record<string, { one?: Verb; many?: Verb }>> = {
  GET: { one: "get", many: "list" },
  HEAD: { one: "get", many: "list" },
  POST: { many: "create" },
  PUT: { one: "update" },
  PATCH: { one: "patch" },
  DELETE: { one: "delete", many: "deletecollection" },
};

const findVerb = (method: string, path: ResourcePath, query: URLSearchParams): Verb | undefined => {
  const { one, many } = VERBS[method] ?? {};
  const verb = path.name === undefined ? many : one;
  const watches = verb === "list" || verb === "get" ? ["true", "1"].includes(query.get("watch") ?? "") : false;
  return watches ? "watch" : verb;
};

const checkScope = (type: ResourceType, path: ResourcePath, verb: Verb): void => {
  if (!type.namespaced && path.namespace !== undefined)
    throw notServed(`${type.plural} inside a namespace: they are cluster-scoped`);
  const needsNamespace = path.name !== undefined || verb === "create" || verb === "deletecollection";
  if (type.namespaced && path.namespace === undefined && needsNamespace)
    throw notServed(`${verb} of ${type.plural} without a namespace`);
};

const handleLog: Handler = async (exchange, { podLogs }) => {
  await handlePodLog(exchange, podLogs);
  return undefined;
};

const chooseHandler = (served: Subresource, verb: Verb | undefined): Handler => {
  const allowed: readonly (Verb | undefined)[] = SUBRESOURCE_VERBS[served];
  if (verb === undefined || !allowed.includes(verb)) throw methodNotAllowed();
  if (served === "log") return handleLog;
  return served === "scale" ? handleScale : HANDLERS[verb];
};

const findSubresource = (type: ResourceType, path: ResourcePath, verb: Verb | undefined): Handler | undefined => {
  const { subresource } = path;
  if (subresource === undefined) return undefined;
  const hint = type.kind === "Pod" ? REFUSED_POD_SUBRESOURCES[subresource] : undefined;
  if (hint) throw new ApiStatusError(405, "MethodNotAllowed", `pods/${subresource} is not served: ${hint}`);
  const served = type.subresources.find((name) => name === subresource);
  if (!served) throw notServed(`${type.plural}/${subresource}`);
  return chooseHandler(served, verb);
};

/**
 * Finds and runs the handler of a resource's path.
 * @throws 404 for what the table leaves out, 405 for verbs that it does not give
 */
export const routeResource = async (
  path: ResourcePath,
  http: { request: IncomingMessage; response: ServerResponse; query: URLSearchParams },
  deps: RouteDeps,
): Promise<void> => {
  const { request, response, query } = http;
  const found = deps.store.find(path);
  if (found?.type.version !== path.version)
    throw notServed(`${path.plural} in ${path.group || "core"}/${path.version}`);
  const { type, rules } = found;
  const verb = findVerb(request.method ?? "", path, query);
  const ofSubresource = findSubresource(type, path, verb);
  if (!verb || !type.verbs.includes(verb)) throw methodNotAllowed();
  checkScope(type, path, verb);
  const exchange: Exchange = {
    request,
    response,
    query,
    type,
    rules,
    store: deps.store,
    namespace: path.namespace,
    name: path.name ?? "",
    subresource: path.subresource,
    warnings: [],
  };
  const answer = await (ofSubresource ?? HANDLERS[verb])(exchange, deps);
  if (answer) sendJson(response, answer, exchange.warnings);
};
