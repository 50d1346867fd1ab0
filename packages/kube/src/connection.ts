import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent, type AgentOptions } from "node:https";

/** A kubeconfig, by path or as text, or the service account of the pod that this process runs in. */
export type KubeconfigOptions =
  | { kubeconfigPath: string; context?: string | undefined }
  | { kubeconfig: string; context?: string | undefined }
  | { inCluster: true };

/** Where the API server is and how to prove who we are. */
export type ConnectionOptions = KubeconfigOptions | { server: string; token?: string | undefined };

/** What a kubeconfig says about TLS. */
export type TlsOptions = Pick<AgentOptions, "ca" | "cert" | "key" | "servername" | "rejectUnauthorized">;

/** Where a connection goes and how it authenticates, before there are sockets. */
export interface Endpoint {
  readonly baseUrl: URL;
  readonly tls: TlsOptions;
  authHeaders: () => Promise<Record<string, string>>;
}

/** A resolved connection. Streams have sockets of their own, so that long watches never starve short calls. */
export interface Connection {
  readonly baseUrl: URL;
  readonly callAgent: HttpAgent;
  readonly streamAgent: HttpAgent;
  /** Headers that authenticate a request; follows token files and exec plugins as they renew. */
  authHeaders: () => Promise<Record<string, string>>;
}

const MAX_CALL_SOCKETS = 64;
const TCP_KEEPALIVE_MS = 15_000;

const makeAgent = (secure: boolean, tls: TlsOptions, maxSockets: number): HttpAgent => {
  const options = { keepAlive: true, keepAliveMsecs: TCP_KEEPALIVE_MS, maxSockets, maxFreeSockets: 16 };
  return secure ? new HttpsAgent({ ...options, ...tls }) : new HttpAgent(options);
};

const plainEndpoint = (server: string, token: string | undefined): Endpoint => {
  const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
  return { baseUrl: new URL(server), tls: {}, authHeaders: () => Promise.resolve(headers) };
};

/** @kubernetes/client-node takes half a second and 50 MB to import, so only who needs it pays. */
const kubeconfigEndpoint = async (options: KubeconfigOptions): Promise<Endpoint> => {
  const { loadEndpoint } = await import("./kubeconfig.js");
  return loadEndpoint(options);
};

/** Resolves where and how to connect. Throws when the kubeconfig cannot be read or names no cluster. */
export const createConnection = async (options: ConnectionOptions): Promise<Connection> => {
  const { baseUrl, tls, authHeaders } =
    "server" in options ? plainEndpoint(options.server, options.token) : await kubeconfigEndpoint(options);
  const secure = baseUrl.protocol === "https:";
  return {
    baseUrl,
    callAgent: makeAgent(secure, tls, MAX_CALL_SOCKETS),
    streamAgent: makeAgent(secure, tls, Infinity),
    authHeaders,
  };
};
