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

/**
 * Splits a decoded path from its end, since repository names hold slashes themselves.
 * @throws RegistryError NAME_INVALID, UNSUPPORTED for a path that the specification does not know
 */
export const parseRoute = (rawPath: string): Route => {
  const path = decode(rawPath);
  if (path === "/v2/" || path === "/v2") return { kind: "base" };
  if (path === "/v2/_catalog") return { kind: "catalog" };
  const parts = path.replace(/^\/v2\//, "").split("/");
  if (!path.startsWith("/v2/") || parts.length < 3) throw new RegistryError("UNSUPPORTED", "no such endpoint");

  const last = parts.at(-1) ?? "";
  const before = parts.at(-2) ?? "";
  const name = (count: number) => parseRepository(parts.slice(0, -count).join("/"));
  if (before === "tags" && last === "list") return { kind: "tags", repository: name(2) };
  if (before === "manifests") return { kind: "manifest", repository: name(2), reference: last };
  if (before === "blobs" && last !== "uploads") return { kind: "blob", repository: name(2), digest: last };
  if (before === "blobs") return { kind: "uploads", repository: name(2) };
  if (before === "uploads" && last === "") return { kind: "uploads", repository: name(3) };
  if (before === "uploads") return { kind: "upload", repository: name(3), id: last };
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
