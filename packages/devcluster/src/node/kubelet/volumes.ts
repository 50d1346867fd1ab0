import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ClusterStore } from "../../store/types.js";
import { CONFIG_MAPS, SECRETS, type Container, type Pod, type Volume } from "../objects.js";
import { ContainerConfigError } from "./env.js";
import type { Mount } from "./paths.js";

const writeFiles = (
  folder: string,
  files: Record<string, Buffer>,
  items: { key: string; path: string }[] | undefined,
) => {
  const wanted = items ?? Object.keys(files).map((key) => ({ key, path: key }));
  for (const { key, path } of wanted) {
    const content = files[key];
    if (!content) throw new ContainerConfigError(`references non-existent key: ${key}`);
    if (path.startsWith("/") || path.split("/").includes("..")) {
      throw new ContainerConfigError(`volume item path ${JSON.stringify(path)} leaves the volume`);
    }
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content, { mode: 0o600 });
  }
};

const toBuffers = (record: unknown, encoding: BufferEncoding): Record<string, Buffer> =>
  Object.fromEntries(
    Object.entries((record ?? {}) as Record<string, string>).map(([key, value]) => [key, Buffer.from(value, encoding)]),
  );

const fillSecret = (store: ClusterStore, namespace: string, volume: NonNullable<Volume["secret"]>, folder: string) => {
  const secret = store.get(SECRETS, namespace, volume.secretName);
  if (secret) writeFiles(folder, toBuffers(secret["data"], "base64"), volume.items);
  else if (!volume.optional) throw new ContainerConfigError(`secret "${volume.secretName}" not found`);
};

const fillConfigMap = (
  store: ClusterStore,
  namespace: string,
  volume: NonNullable<Volume["configMap"]>,
  folder: string,
) => {
  const map = store.get(CONFIG_MAPS, namespace, volume.name);
  const files = { ...toBuffers(map?.["binaryData"], "base64"), ...toBuffers(map?.["data"], "utf8") };
  if (map) writeFiles(folder, files, volume.items);
  else if (!volume.optional) throw new ContainerConfigError(`configmap "${volume.name}" not found`);
};

/**
 * Makes the folders of a pod's volumes: empty ones, and Secrets and ConfigMaps as files, as they are at this moment.
 * @returns where each volume lies, by name
 * @throws ContainerConfigError when something named is missing or of a type that devcluster does not carry
 */
export const makeVolumes = (store: ClusterStore, pod: Pod, folder: string): Map<string, string> => {
  const namespace = pod.metadata.namespace ?? "";
  const folders = new Map<string, string>();
  for (const volume of pod.spec.volumes ?? []) {
    const at = join(folder, volume.name);
    mkdirSync(at, { recursive: true });
    if (volume.secret) fillSecret(store, namespace, volume.secret, at);
    else if (volume.configMap) fillConfigMap(store, namespace, volume.configMap, at);
    else if (!volume.emptyDir) {
      throw new ContainerConfigError(`volume ${volume.name}: devcluster carries emptyDir, secret and configMap only`);
    }
    folders.set(volume.name, at);
  }
  return folders;
};

/** Where the mounts of a container lie on this machine. */
export const mountsOf = (container: Container, folders: ReadonlyMap<string, string>): Mount[] =>
  (container.volumeMounts ?? []).map(({ name, mountPath, subPath = "" }) => {
    const folder = folders.get(name);
    if (folder === undefined) throw new ContainerConfigError(`volume ${name} of mount ${mountPath} is not in the pod`);
    if (subPath.split("/").includes("..")) throw new ContainerConfigError(`subPath ${subPath} leaves the volume`);
    return { mountPath, folder: join(folder, subPath) };
  });
