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

/** `/api/v1/namespaces/a/status` is the namespace's own status, not a resource inside it. */
const isInNamespace = (rest: readonly string[]): boolean =>
  rest[0] === "namespaces" && rest.length >= 3 && !(rest.length === 3 && rest[2] === "status");

/** Resource, name, subresource: no path has more. */
const MAX_PARTS = 3;

/**
 * `/api/v1/namespaces/a/pods/b/log`, `/apis/apps/v1/deployments`: the parts of a resource's path.
 * @returns undefined when the path names no resource (discovery, health, nonsense)
 */
export const parseResourcePath = (path: string): ResourcePath | undefined => {
  const found = splitGroupVersion(path.split("/").slice(1).map(decode));
  if (!found) return undefined;
  const { group, version, rest } = found;
  const namespace = isInNamespace(rest) ? rest[1] : undefined;
  const parts = namespace === undefined ? rest : rest.slice(2);
  const [plural, name, subresource] = parts;
  if (!plural || parts.length > MAX_PARTS) return undefined;
  return { group, version, plural, namespace, name, subresource };
};
