import { RegistryError } from "./errors.js";
import { parseRepository } from "./names.js";

export type Route =
  | { kind: "base" }
  | { kind: "catalog" }
  | { kind: "tags"; repository: string }
  | { kind: "manifest"; repository: string; reference: string }
  | { kind: "blob"; repository: string; digest: string }
  | { kind: "uploads"; repository: string }
  | { kind: "upload"; repository: string; id: string };

const decode = (path: string): string => {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new RegistryError("NAME_INVALID", "the path is not valid percent-encoding");
  }
};

/** Endpoints by the end of their path, since repository names hold slashes themselves. First match wins. */
const ENDPOINTS: readonly [RegExp, (repository: string, last: string) => Route][] = [
  [/^(.+)\/tags\/list$/, (repository) => ({ kind: "tags", repository })],
  [/^(.+)\/manifests\/([^/]+)$/, (repository, reference) => ({ kind: "manifest", repository, reference })],
  [/^(.+)\/blobs\/uploads\/?$/, (repository) => ({ kind: "uploads", repository })],
  [/^(.+)\/blobs\/uploads\/([^/]+)$/, (repository, id) => ({ kind: "upload", repository, id })],
  [/^(.+)\/blobs\/([^/]+)$/, (repository, digest) => ({ kind: "blob", repository, digest })],
];
const MAX_PATH = 1024;

/** @throws RegistryError NAME_INVALID, UNSUPPORTED for a path that the specification does not know */
export const parseRoute = (rawPath: string): Route => {
  const path = decode(rawPath.slice(0, MAX_PATH + 1));
  if (path === "/v2/" || path === "/v2") return { kind: "base" };
  if (path === "/v2/_catalog") return { kind: "catalog" };
  const rest = path.startsWith("/v2/") && path.length <= MAX_PATH ? path.slice("/v2/".length) : "";
  for (const [pattern, make] of ENDPOINTS) {
    const match = pattern.exec(rest);
    if (match) return make(parseRepository(match[1] ?? ""), match[2] ?? "");
  }
  throw new RegistryError("UNSUPPORTED", "no such endpoint");
};

/** One page of a sorted list by the specification's `n` and `last`, and the Link header to the next. */
export const pageOf = (all: string[], query: URLSearchParams, path: string): { items: string[]; link?: string } => {
  const last = query.get("last");
  const rest = last === null ? all : all.filter((name) => name > last);
  const n = query.get("n");
  if (n === null) return { items: rest };
  if (!/^\d{1,6}$/.test(n)) throw new RegistryError("UNSUPPORTED", "n must be a number");
  const items = rest.slice(0, Number(n));
  const end = items.at(-1);
  if (end === undefined || items.length === rest.length) return { items };
  return { items, link: `<${path}?n=${n}&last=${encodeURIComponent(end)}>; rel="next"` };
};
