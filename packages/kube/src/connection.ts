import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent, type RequestOptions } from "node:https";
import { KubeConfig } from "@kubernetes/client-node";

/** Where the API server is and how to prove who we are: a kubeconfig, the pod's service account, or plain HTTP. */
export type ConnectionOptions =
  | { kubeconfigPath: string; context?: string | undefined }
  | { kubeconfig: string; context?: string | undefined }
  | { inCluster: true }
  | { server: string; token?: string | undefined };

/** A resolved connection. Streams have sockets of their own, so that long watches never starve short calls. */
export interface Connection {
  readonly baseUrl: URL;
  readonly callAgent: HttpAgent;
  readonly streamAgent: HttpAgent;
  /** Headers that authenticate a request; follows token files and exec plugins as they renew. */
  authHeaders(): Promise<Record<string, string>>;
}

const MAX_CALL_SOCKETS = 64;
const TCP_KEEPALIVE_MS = 15_000;
const HEADERS_LIFETIME_MS = 10_000;

const loadKubeConfig = (options: ConnectionOptions): KubeConfig => {
  const config = new KubeConfig();
  if ("kubeconfigPath" in options) config.loadFromFile(options.kubeconfigPath);
  else if ("kubeconfig" in options) config.loadFromString(options.kubeconfig);
  else if ("inCluster" in options) config.loadFromCluster();
  else config.loadFromClusterAndUser(plainCluster(options.server), { name: "user", ...tokenOf(options) });
  if ("context" in options && options.context) config.setCurrentContext(options.context);
  return config;
};

const plainCluster = (server: string) => ({ name: "cluster", server, skipTLSVerify: false });

const tokenOf = (options: { token?: string | undefined }) => (options.token ? { token: options.token } : {});

const requireServer = (config: KubeConfig): URL => {
  const cluster = config.getCurrentCluster();
  if (!cluster) {
    throw new Error(`the kubeconfig's current context "${config.getCurrentContext()}" names no cluster; set one`);
  }
  return new URL(cluster.server);
};

/** client-node refuses plain HTTP unless it is told that TLS is not expected. */
const allowPlainHttp = (config: KubeConfig): void => {
  config.clusters = config.clusters.map((cluster) =>
    cluster.server.startsWith("http:") ? { ...cluster, skipTLSVerify: true } : cluster,
  );
};

const makeAgent = (secure: boolean, tls: RequestOptions, maxSockets: number): HttpAgent => {
  const options = { keepAlive: true, keepAliveMsecs: TCP_KEEPALIVE_MS, maxSockets, maxFreeSockets: 16 };
  if (!secure) return new HttpAgent(options);
  const { ca, cert, key, servername, rejectUnauthorized } = tls;
  return new HttpsAgent({
    ...options,
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(servername !== undefined && { servername }),
    ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
  });
};

const readAuthHeaders = async (config: KubeConfig): Promise<Record<string, string>> => {
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    if (typeof value === "string") headers[name.toLowerCase()] = value;
  }
  if (options.auth) headers["authorization"] = `Basic ${Buffer.from(options.auth).toString("base64")}`;
  return headers;
};

/** Resolves where and how to connect. Throws when the kubeconfig cannot be read or names no cluster. */
export const createConnection = async (options: ConnectionOptions): Promise<Connection> => {
  const config = loadKubeConfig(options);
  allowPlainHttp(config);
  const baseUrl = requireServer(config);
  const secure = baseUrl.protocol === "https:";
  const tls: RequestOptions = {};
  await config.applyToHTTPSOptions(tls);

  let cached = { headers: await readAuthHeaders(config), until: performance.now() + HEADERS_LIFETIME_MS };
  return {
    baseUrl,
    callAgent: makeAgent(secure, tls, MAX_CALL_SOCKETS),
    streamAgent: makeAgent(secure, tls, Infinity),
    authHeaders: async () => {
      if (performance.now() >= cached.until) {
        cached = { headers: await readAuthHeaders(config), until: performance.now() + HEADERS_LIFETIME_MS };
      }
      return cached.headers;
    },
  };
};
