import { formatKey, type ObjectKey, type Resource } from "./object.js";

/** Names that would change the path's meaning are refused, as the API server itself does. */
const segment = (value: string, what: string): string => {
  if (value === "" || value === "." || value === ".." || /[/%]/.test(value)) {
    throw new TypeError(`${what} ${JSON.stringify(value)} cannot be part of an API path`);
  }
  return encodeURIComponent(value);
};

/** Path of a collection; without a namespace, that of all namespaces. */
export const collectionPath = (resource: Resource, namespace?: string): string => {
  const root = resource.group === "" ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const scope = resource.namespaced && namespace !== undefined ? `/namespaces/${segment(namespace, "namespace")}` : "";
  return `${root}${scope}/${resource.plural}`;
};

/** Path of one object, or of a subresource of it. Throws TypeError when a namespaced kind comes without namespace. */
export const objectPath = (resource: Resource, key: ObjectKey, subresource?: string): string => {
  if (resource.namespaced && !key.namespace) {
    throw new TypeError(`${resource.kind} ${formatKey(key)} needs a namespace`);
  }
  const path = `${collectionPath(resource, key.namespace)}/${segment(key.name, "name")}`;
  return subresource ? `${path}/${subresource}` : path;
};
