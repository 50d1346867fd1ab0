import { isBuiltIn } from "../resource-table.js";
import type { ResourceType, Subresource, Verb } from "../../store/types.js";

interface ServedSubresource {
  name: Subresource;
  kind: { group: string; version: string; kind: string };
  verbs: readonly Verb[];
}

/** What may be done with each subresource. */
export const SUBRESOURCE_VERBS: Readonly<Record<Subresource, readonly Verb[]>> = {
  status: ["get", "patch", "update"],
  scale: ["get", "patch", "update"],
  log: ["get"],
};

const subresourcesOf = (type: ResourceType): ServedSubresource[] =>
  type.subresources.map((name) => ({
    name,
    kind:
      name === "scale"
        ? { group: "autoscaling", version: "v1", kind: "Scale" }
        : { group: "", version: "", kind: type.kind },
    verbs: SUBRESOURCE_VERBS[name],
  }));

const optionalNames = ({ shortNames, categories }: ResourceType): object => ({
  ...(shortNames.length > 0 ? { shortNames } : {}),
  ...(categories.length > 0 ? { categories } : {}),
});

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
const sorted = (types: readonly ResourceType[]): ResourceType[] =>
  [...types].sort((a, b) => compare(a.plural, b.plural));

/** `/api/v1`, `/apis/apps/v1`: the resources of one version of a group. */
export const makeResourceList = (
  groupVersion: { group: string; version: string },
  types: readonly ResourceType[],
): object | undefined => {
  const { group, version } = groupVersion;
  const ofVersion = types.filter((type) => type.group === group && type.version === version);
  if (ofVersion.length === 0) return undefined;
  const resources = sorted(ofVersion).flatMap((type) => [
    {
      name: type.plural,
      singularName: type.singular,
      namespaced: type.namespaced,
      kind: type.kind,
      verbs: type.verbs,
      ...optionalNames(type),
    },
    ...subresourcesOf(type).map(({ name, kind, verbs }) => ({
      name: `${type.plural}/${name}`,
      singularName: "",
      namespaced: type.namespaced,
      ...(kind.group === "" ? {} : { group: kind.group, version: kind.version }),
      kind: kind.kind,
      verbs,
    })),
  ]);
  return {
    kind: "APIResourceList",
    apiVersion: "v1",
    groupVersion: group === "" ? version : `${group}/${version}`,
    resources,
  };
};

const groupsOf = (types: readonly ResourceType[]): Map<string, Set<string>> => {
  const groups = new Map<string, Set<string>>();
  for (const { group, version } of types) {
    if (group === "") continue;
    groups.set(group, (groups.get(group) ?? new Set()).add(version));
  }
  return groups;
};

const makeGroup = (name: string, versions: Iterable<string>): object => {
  const all = [...versions].map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: all, preferredVersion: all[0] };
};

/** `/apis`. */
export const makeGroupList = (types: readonly ResourceType[]): object => ({
  kind: "APIGroupList",
  apiVersion: "v1",
  groups: [...groupsOf(types)].map(([name, versions]) => makeGroup(name, versions)),
});

/** `/apis/apps`. */
export const makeGroupDocument = (name: string, types: readonly ResourceType[]): object | undefined => {
  const versions = groupsOf(types).get(name);
  return versions ? { kind: "APIGroup", apiVersion: "v1", ...makeGroup(name, versions) } : undefined;
};

/** `/api`. */
export const makeApiVersions = (): object => ({
  kind: "APIVersions",
  versions: ["v1"],
  serverAddressByClientCIDRs: [],
});

/** Built-in kinds leave group and version to where they stand; custom ones name them. */
const responseKindOf = (type: ResourceType): object =>
  isBuiltIn(type)
    ? { group: "", version: "", kind: type.kind }
    : { group: type.group, version: type.version, kind: type.kind };

const makeAggregatedResource = (type: ResourceType): object => {
  const subresources = subresourcesOf(type).map(({ name, kind, verbs }) => ({
    subresource: name,
    responseKind: kind,
    verbs,
  }));
  return {
    resource: type.plural,
    responseKind: responseKindOf(type),
    scope: type.namespaced ? "Namespaced" : "Cluster",
    singularResource: type.singular,
    verbs: type.verbs,
    ...optionalNames(type),
    ...(subresources.length > 0 ? { subresources } : {}),
  };
};

/** `/api` or `/apis` in one document (apidiscovery.k8s.io/v2), which is what today's kubectl asks for. */
export const makeAggregatedDiscovery = (root: "api" | "apis", types: readonly ResourceType[]): object => {
  const groups = root === "api" ? new Map([["", new Set(["v1"])]]) : groupsOf(types);
  const items = [...groups].map(([group, versions]) => ({
    metadata: group === "" ? {} : { name: group },
    versions: [...versions].map((version) => ({
      version,
      resources: sorted(types.filter((type) => type.group === group && type.version === version)).map(
        makeAggregatedResource,
      ),
      freshness: "Current",
    })),
  }));
  return { kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2", metadata: {}, items };
};
