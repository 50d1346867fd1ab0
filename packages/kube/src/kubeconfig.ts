import type { RequestOptions } from "node:https";
import { KubeConfig } from "@kubernetes/client-node";
import type { Endpoint, KubeconfigOptions, TlsOptions } from "./connection.js";

/** Credentials are read again this often; client-node itself keeps what exec plugins and token files give. */
const HEADERS_LIFETIME_MS = 10_000;

const loadKubeConfig = (options: KubeconfigOptions): KubeConfig => {
  const config = new KubeConfig();
  if ("kubeconfigPath" in options) config.loadFromFile(options.kubeconfigPath);
  else if ("kubeconfig" in options) config.loadFromString(options.kubeconfig);
  else config.loadFromCluster();
  if ("context" in options && options.context) config.setCurrentContext(options.context);
  return config;
};

/** client-node refuses plain HTTP unless it is told that TLS is not expected. */
const allowPlainHttp = (config: KubeConfig): void => {
  config.clusters = config.clusters.map((cluster) =>
    cluster.server.startsWith("http:") ? { ...cluster, skipTLSVerify: true } : cluster,
  );
};

const requireServer = (config: KubeConfig): URL => {
  const cluster = config.getCurrentCluster();
  if (!cluster) {
    throw new Error(`the kubeconfig's current context "${config.getCurrentContext()}" names no cluster; set one`);
  }
  return new URL(cluster.server);
};

/** What client-node would give to node:https. It also makes an agent for each call, which would reuse no socket. */
const readOptions = async (config: KubeConfig): Promise<RequestOptions> => {
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  return options;
};

const TLS_FIELDS = ["ca", "cert", "key", "servername", "rejectUnauthorized"] as const;

const pickTls = (options: RequestOptions): TlsOptions =>
  Object.fromEntries(TLS_FIELDS.filter((name) => options[name] !== undefined).map((name) => [name, options[name]]));

const pickHeaders = (options: RequestOptions): Record<string, string> => {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    if (typeof value === "string") headers[name.toLowerCase()] = value;
  }
  if (options.auth) headers["authorization"] = `Basic ${Buffer.from(options.auth).toString("base64")}`;
  return headers;
};

/** Reads server, TLS and credentials of a kubeconfig. Throws when it cannot be read or names no cluster. */
export const loadEndpoint = async (options: KubeconfigOptions): Promise<Endpoint> => {
  const config = loadKubeConfig(options);
  allowPlainHttp(config);
  const baseUrl = requireServer(config);
  const first = await readOptions(config);
  let cached = { headers: pickHeaders(first), until: performance.now() + HEADERS_LIFETIME_MS };
  return {
    baseUrl,
    tls: pickTls(first),
    authHeaders: async () => {
      if (performance.now() >= cached.until) {
        const headers = pickHeaders(await readOptions(config));
        cached = { headers, until: performance.now() + HEADERS_LIFETIME_MS };
      }
      return cached.headers;
    },
  };
};
