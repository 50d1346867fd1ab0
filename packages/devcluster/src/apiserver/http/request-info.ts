/** What a path of the Kubernetes API names. */
export interface ResourcePath {
  group: string;
  version: string;
  plural: string;
  namespace: string | undefined;
  name: string | undefined;
  subresource: string | undefined;
}

const decode = (segment: string): string => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
};

const splitGroupVersion = (
  segments: readonly string[],
): { group: string; version: string; rest: readonly string[] } | undefined => {
  const [prefix, first, second, ...rest] = segments;
  if (prefix === "api" && first) return { group: "", version: first, rest: segments.slice(2) };
  if (prefix === "apis" && first && second) return { group: first, version: second, rest };
  return undefined;
};

/**
 * `/api/v1/namespaces/a/pods/b/log`, `/apis/apps/v1/deployments`: the parts of a resource's path.
 * @returns undefined when the path names no resource (discovery, health, nonsense)
 */
export const parseResourcePath = (path: string): ResourcePath | undefined => {
  const found = splitGroupVersion(path.split("/").slice(1).map(decode));
  if (!found || found.rest.length === 0 || found.rest[0] === "") return undefined;
  const { group, version, rest } = found;
  if (rest[0] === "namespaces" && rest.length >= 3 && !isNamespaceSubresource(rest)) {
    const [, namespace, plural = "", name, subresource] = rest;
    return rest.length > 5 ? undefined : { group, version, plural, namespace, name, subresource };
  }
  const [plural = "", name, subresource] = rest;
  return rest.length > 3 ? undefined : { group, version, plural, namespace: undefined, name, subresource };
};

/** `/api/v1/namespaces/a/status` is the namespace's own status, not a resource inside it. */
const isNamespaceSubresource = (rest: readonly string[]): boolean =>
  rest.length === 3 && (rest[2] === "status" || rest[2] === "finalize");
