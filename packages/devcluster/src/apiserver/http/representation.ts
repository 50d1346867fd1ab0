import type { KubeObject } from "../../store/types.js";
import { makeTable } from "../table/make-table.js";
import type { Exchange } from "./exchange.js";

export type Representation = "full" | "table" | "metadata";

/** The first thing of the Accept header that this server can give; 406 is left to clients that read no JSON. */
export const negotiate = (accept: string | undefined): Representation => {
  for (const option of (accept ?? "").split(",")) {
    const parameters = option.split(";").map((part) => part.trim());
    if (parameters.includes("as=Table")) return "table";
    if (parameters.some((parameter) => /^as=PartialObjectMetadata(List)?$/.test(parameter))) return "metadata";
    if (parameters[0] === "application/json" || parameters[0] === "*/*") return "full";
  }
  return "full";
};

const toPartial = ({ metadata }: KubeObject): object => ({
  kind: "PartialObjectMetadata",
  apiVersion: "meta.k8s.io/v1",
  metadata,
});

/** Items of built-in lists do not repeat their kind, as in Kubernetes. */
const withoutType = ({ apiVersion: _version, kind: _kind, ...item }: KubeObject): object => item;

interface ListBody {
  metadata: Record<string, unknown>;
  items: readonly KubeObject[];
}

/** A list in the form that the client asked for. */
export const represent = ({ request, type, rules, query }: Exchange, list: ListBody): unknown => {
  const form = negotiate(request.headers.accept);
  if (form === "table")
    return makeTable({ type, columns: rules.printerColumns, includeObject: query.get("includeObject") }, list);
  if (form === "metadata")
    return {
      kind: "PartialObjectMetadataList",
      apiVersion: "meta.k8s.io/v1",
      metadata: list.metadata,
      items: list.items.map(toPartial),
    };
  const apiVersion = type.group === "" ? type.version : `${type.group}/${type.version}`;
  return {
    kind: type.listKind,
    apiVersion,
    metadata: list.metadata,
    items: rules.customSchema ? list.items : list.items.map(withoutType),
  };
};

/** A single object in the form that the client asked for. */
export const representOne = ({ request, type, rules, query }: Exchange, object: KubeObject): unknown => {
  const form = negotiate(request.headers.accept);
  if (form === "full") return object;
  if (form === "metadata") return toPartial(object);
  const { resourceVersion } = object.metadata;
  return makeTable(
    { type, columns: rules.printerColumns, includeObject: query.get("includeObject") },
    { metadata: resourceVersion ? { resourceVersion } : {}, items: [object] },
  );
};
