import type { ClusterStore, KubeObject, ResourceRef } from "../../store/types.js";
import {
  CONFIG_MAPS,
  SECRETS,
  type Container,
  type EnvFromSource,
  type EnvVar,
  type KeySelector,
  type Pod,
} from "../objects.js";

/** What is missing for a container to start; the pod waits with reason CreateContainerConfigError. */
export class ContainerConfigError extends Error {
  override readonly name = "ContainerConfigError";
}

type Env = Map<string, string>;
const MAX_EXPANDED = 1024 * 1024;

/**
 * Replaces `$(NAME)` by variables known so far and `$$` by `$`; unknown names stay as they are
 * (k8s.io/kubernetes third_party/forked/golang/expansion).
 */
export const expand = (text: string, known: ReadonlyMap<string, string>): string => {
  const result = text.replace(/\$\$|\$\(([^()]{1,256})\)/g, (whole: string, name?: string) =>
    name === undefined ? "$" : (known.get(name) ?? whole),
  );
  if (result.length > MAX_EXPANDED) throw new ContainerConfigError("environment variables expand beyond 1 MiB");
  return result;
};

const decodeSecret = (object: KubeObject): Map<string, string> => {
  const data = Object.entries((object["data"] ?? {}) as Record<string, string>);
  return new Map(data.map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]));
};
const readConfigMap = (object: KubeObject): Map<string, string> =>
  new Map(Object.entries((object["data"] ?? {}) as Record<string, string>));

interface Source {
  type: ResourceRef;
  kind: string;
  decode(object: KubeObject): Map<string, string>;
}
const SECRET: Source = { type: SECRETS, kind: "secret", decode: decodeSecret };
const CONFIG_MAP: Source = { type: CONFIG_MAPS, kind: "configmap", decode: readConfigMap };

interface Wanted {
  name: string;
  optional?: boolean;
}

const readSource = (store: ClusterStore, namespace: string, source: Source, wanted: Wanted) => {
  const object = store.get(source.type, namespace, wanted.name);
  if (object) return source.decode(object);
  if (wanted.optional) return undefined;
  throw new ContainerConfigError(`${source.kind} "${wanted.name}" not found`);
};

/** The fields of the downward API that a pod may ask for. */
const readField = (pod: Pod, path: string): string => {
  const { metadata, spec, status } = pod;
  const keyed = /^metadata\.(labels|annotations)\['([^']{1,317})'\]$/.exec(path);
  if (keyed) return metadata[keyed[1] as "labels" | "annotations"]?.[keyed[2] ?? ""] ?? "";
  const fields: Record<string, string | undefined> = {
    "metadata.name": metadata.name,
    "metadata.namespace": metadata.namespace,
    "metadata.uid": metadata.uid,
    "spec.nodeName": spec.nodeName,
    "spec.serviceAccountName": "default",
    "status.hostIP": status?.hostIP,
    "status.podIP": status?.podIP,
  };
  if (!Object.hasOwn(fields, path)) throw new ContainerConfigError(`fieldRef ${path} is not supported by devcluster`);
  return fields[path] ?? "";
};

export interface EnvContext {
  store: ClusterStore;
  pod: Pod;
  /** `NAME=value` of the image. */
  imageEnv: readonly string[];
}

const addFrom = (env: Env, context: EnvContext, { prefix = "", secretRef, configMapRef }: EnvFromSource): void => {
  const namespace = context.pod.metadata.namespace ?? "";
  const values = secretRef
    ? readSource(context.store, namespace, SECRET, secretRef)
    : configMapRef && readSource(context.store, namespace, CONFIG_MAP, configMapRef);
  for (const [key, value] of values ?? []) env.set(`${prefix}${key}`, value);
};

const readKey = ({ store, pod }: EnvContext, source: Source, selector: KeySelector): string | undefined => {
  const namespace = pod.metadata.namespace ?? "";
  const value = readSource(store, namespace, source, selector)?.get(selector.key);
  if (value !== undefined || selector.optional) return value;
  const kind = source === SECRET ? "Secret" : "ConfigMap";
  throw new ContainerConfigError(`couldn't find key ${selector.key} in ${kind} ${namespace}/${selector.name}`);
};

const readVar = (context: EnvContext, variable: EnvVar): string | undefined => {
  const { secretKeyRef, configMapKeyRef, fieldRef } = variable.valueFrom ?? {};
  if (fieldRef) return readField(context.pod, fieldRef.fieldPath);
  const selector = secretKeyRef ?? configMapKeyRef;
  if (!selector) throw new ContainerConfigError(`valueFrom of ${variable.name} is not supported by devcluster`);
  return readKey(context, secretKeyRef ? SECRET : CONFIG_MAP, selector);
};

/**
 * The environment that the specs ask for: the image's, then envFrom, then env, later ones over earlier ones.
 * @throws ContainerConfigError in the kubelet's words when a Secret, ConfigMap or key is missing
 */
export const resolveEnv = (context: EnvContext, container: Container): Env => {
  const env: Env = new Map(
    context.imageEnv.map((entry) => {
      const at = entry.indexOf("=");
      return at < 0 ? [entry, ""] : [entry.slice(0, at), entry.slice(at + 1)];
    }),
  );
  for (const source of container.envFrom ?? []) addFrom(env, context, source);
  for (const variable of container.env ?? []) {
    const value = variable.valueFrom ? readVar(context, variable) : expand(variable.value ?? "", env);
    if (value !== undefined) env.set(variable.name, value);
  }
  return env;
};
