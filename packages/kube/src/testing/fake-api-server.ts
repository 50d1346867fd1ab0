import type { ServerResponse } from "node:http";
import type { WatchOptions } from "../client.js";
import { KubeApiError } from "../errors.js";
import { apiVersionOf, type KubeObject, type ObjectKey, type Resource } from "../object.js";
import type { FakeKubeClient } from "./fake-client.js";
import { sendJson, sendStatus, startScriptedApiServer, type ReceivedRequest } from "./scripted-api-server.js";

interface Target {
  resource: Resource;
  namespace: string | undefined;
  name: string | undefined;
  subresource: string | undefined;
}

export interface FakeApiServer {
  readonly url: string;
  close: () => Promise<void>;
}

const PATH = /^\/(?:api|apis\/(?<group>[^/]+))\/(?<version>[^/]+)(?:\/namespaces\/(?<namespace>[^/]+))?\/(?<rest>.+)$/;

const parseTarget = (path: string, resources: readonly Resource[]): Target | undefined => {
  const { group = "", version, namespace, rest = "" } = PATH.exec(path)?.groups ?? {};
  const [plural, name, subresource] = rest.split("/").map(decodeURIComponent);
  const resource = resources.find(
    (candidate) => candidate.group === group && candidate.version === version && candidate.plural === plural,
  );
  return resource && { resource, namespace, name, subresource };
};

type Parameters = Record<string, string>;

const write = (client: FakeKubeClient, request: ReceivedRequest, target: Target): Promise<unknown> => {
  const { resource, namespace, subresource } = target;
  const key: ObjectKey = { name: target.name ?? "", namespace };
  const body = request.body as KubeObject & Record<string, unknown>;
  const fieldManager = request.query.get("fieldManager") ?? "unknown";
  const { uid, resourceVersion } = body.metadata ?? {};
  const preconditions = { uid, resourceVersion, fieldManager };
  if (request.method === "POST") return client.create(resource, body, { fieldManager });
  if (request.method === "PUT") return client.replace(resource, body, { fieldManager });
  if (request.method === "DELETE") return client.delete(resource, key, body["preconditions"] as Parameters);
  if (request.headers["content-type"] === "application/apply-patch+yaml") {
    const options = { fieldManager, force: request.query.get("force") === "true" };
    return subresource ? client.applyStatus(resource, body, options) : client.apply(resource, body, options);
  }
  return subresource
    ? client.patchStatus(resource, key, body["status"] as Parameters, preconditions)
    : client.mergePatch(resource, key, body, preconditions);
};

const stream = async (client: FakeKubeClient, target: Target, options: WatchOptions, response: ServerResponse) => {
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  response.writeHead(200, { "content-type": "application/json" }).flushHeaders();
  for await (const event of client.watch(target.resource, { ...options, signal: gone.signal })) {
    response.write(`${JSON.stringify(event)}\n`);
  }
  response.end();
};

const read = async (client: FakeKubeClient, request: ReceivedRequest, target: Target, response: ServerResponse) => {
  const { resource, namespace, name } = target;
  const query = Object.fromEntries(request.query) as Parameters & { labelSelector?: string; resourceVersion: string };
  if (name) {
    sendJson(response, 200, await client.get(resource, { name, namespace }));
  } else if (query["watch"] === "true") {
    await stream(client, target, { ...query, namespace }, response);
  } else {
    const limit = query["limit"] ? Number(query["limit"]) : undefined;
    const { items, resourceVersion, continue: next } = await client.list(resource, { ...query, namespace, limit });
    const metadata = { resourceVersion, ...(next && { continue: next }) };
    sendJson(response, 200, { kind: `${resource.kind}List`, apiVersion: apiVersionOf(resource), metadata, items });
  }
};

const refuse = (response: ServerResponse, error: unknown): void => {
  if (error instanceof KubeApiError)
    sendJson(response, error.code, { kind: "Status", ...error.status, details: error.status });
  else sendStatus(response, 500, "InternalError", String(error));
};

/**
 * Serves a fake client over HTTP, for tests with processes of their own. It serves the given resources and nothing
 * else. `onWrite` sees each write as it arrives, with who sent it.
 */
export const startFakeApiServer = async (
  client: FakeKubeClient,
  resources: readonly Resource[],
  onWrite: (request: ReceivedRequest) => void = () => undefined,
): Promise<FakeApiServer> =>
  startScriptedApiServer((request, response) => {
    const target = parseTarget(request.path, resources);
    if (!target) {
      sendStatus(response, 404, "NotFound", `the fake API server serves no ${request.path}`);
      return;
    }
    if (request.method !== "GET") onWrite(request);
    const answered =
      request.method === "GET"
        ? read(client, request, target, response)
        : write(client, request, target).then((body) => sendJson(response, 200, body ?? { kind: "Status" }));
    answered.catch((error: unknown) => refuse(response, error));
  });
