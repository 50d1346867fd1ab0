import type { BasicCredentials } from "../../registry/basic-auth.js";
import type { ClusterStore } from "../../store/types.js";
import { parseImageReference } from "../image/reference.js";
import { SECRETS, type Pod } from "../objects.js";

/** The login to pull an image with: from the pod's imagePullSecrets, else the node's own for its registry. */
export type CredentialsFor = (pod: Pod, image: string) => BasicCredentials | undefined;

interface DockerConfig {
  auths?: Record<string, { auth?: string; username?: string; password?: string }>;
}

const parseDockerConfig = (encoded: string | undefined): DockerConfig => {
  try {
    return JSON.parse(Buffer.from(encoded ?? "", "base64").toString("utf8")) as DockerConfig;
  } catch {
    return {};
  }
};

const readLogin = ({ auths = {} }: DockerConfig, host: string): BasicCredentials | undefined => {
  const entry = auths[host] ?? auths[`http://${host}`] ?? auths[`https://${host}`];
  if (!entry) return undefined;
  if (entry.username !== undefined && entry.password !== undefined) {
    return { username: entry.username, password: entry.password };
  }
  const pair = Buffer.from(entry.auth ?? "", "base64").toString("utf8");
  const colon = pair.indexOf(":");
  return colon < 0 ? undefined : { username: pair.slice(0, colon), password: pair.slice(colon + 1) };
};

/** @param nodeLogins by registry host, as a node's credential provider would hold them */
export const createCredentialsFor = (
  store: ClusterStore,
  nodeLogins: Readonly<Record<string, BasicCredentials>>,
): CredentialsFor => {
  return (pod, image) => {
    const { host } = parseImageReference(image);
    for (const { name } of pod.spec.imagePullSecrets ?? []) {
      const secret = store.get(SECRETS, pod.metadata.namespace, name);
      const data = secret?.["data"] as Record<string, string> | undefined;
      const login = readLogin(parseDockerConfig(data?.[".dockerconfigjson"]), host);
      if (login) return login;
    }
    return nodeLogins[host];
  };
};
