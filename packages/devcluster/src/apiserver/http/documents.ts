import type { ServedStore } from "../served-store.js";
import {
  makeAggregatedDiscovery,
  makeApiVersions,
  makeGroupDocument,
  makeGroupList,
  makeResourceList,
} from "../discovery/discovery.js";
import { makeOpenApiDocument, makeOpenApiIndex } from "../openapi/open-api.js";
import { KUBERNETES_VERSION } from "../schema/generated/built-in-schemas.js";

const [MAJOR = "", MINOR = ""] = KUBERNETES_VERSION.replace(/^v/, "").split(".");

const VERSION = {
  major: MAJOR,
  minor: MINOR,
  gitVersion: `${KUBERNETES_VERSION}+sless-devcluster`,
  gitCommit: "",
  gitTreeState: "",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "",
  compiler: "",
  platform: "",
};

const wantsAggregated = (accept: string | undefined): boolean =>
  /as=APIGroupDiscoveryList/.test(accept ?? "") && /v=v2(;|,|$)/.test(accept ?? "");

export const AGGREGATED_TYPE = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** A document that is no resource: its body, and its type where that is not plain JSON. */
export interface Document {
  body: object | string;
  contentType?: string;
}

const discoveryRoot = (root: "api" | "apis", accept: string | undefined, store: ServedStore): Document => {
  const types = store.resourceTypes();
  if (wantsAggregated(accept)) return { body: makeAggregatedDiscovery(root, types), contentType: AGGREGATED_TYPE };
  return { body: root === "api" ? makeApiVersions() : makeGroupList(types) };
};

const discoveryBelow = (segments: readonly string[], store: ServedStore): object | undefined => {
  const [root, first = "", second] = segments;
  const types = store.resourceTypes();
  if (root === "api") return segments.length === 2 ? makeResourceList({ group: "", version: first }, types) : undefined;
  if (root !== "apis" || segments.length > 3) return undefined;
  return second === undefined
    ? makeGroupDocument(first, types)
    : makeResourceList({ group: first, version: second }, types);
};

const OPENAPI_PREFIX = "/openapi/v3/";

/** Discovery, OpenAPI and version; undefined when the path is none of them. */
export const findDocument = (path: string, accept: string | undefined, store: ServedStore): Document | undefined => {
  if (path === "/version") return { body: VERSION };
  if (path === "/openapi/v3") return { body: makeOpenApiIndex(store) };
  if (path.startsWith(OPENAPI_PREFIX)) {
    const document = makeOpenApiDocument(path.slice(OPENAPI_PREFIX.length), store);
    return document && { body: document };
  }
  const segments = path.split("/").filter(Boolean);
  const [root] = segments;
  if (segments.length === 1 && (root === "api" || root === "apis")) return discoveryRoot(root, accept, store);
  const body = discoveryBelow(segments, store);
  return body ? { body } : undefined;
};
