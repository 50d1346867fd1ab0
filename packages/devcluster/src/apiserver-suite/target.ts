import { readFileSync } from "node:fs";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { parse } from "yaml";

/** A cluster that stories are told to. */
export interface Target {
  name: string;
  kubeconfig: string;
  send(request: HttpRequest): Promise<IncomingMessage>;
  close(): void;
}

export interface HttpRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
}

interface Kubeconfig {
  "current-context": string;
  contexts: { name: string; context: { cluster: string; user: string } }[];
  clusters: { name: string; cluster: Record<string, string> }[];
  users: { name: string; user: Record<string, string> }[];
}

const decode = (text: string | undefined): Buffer | undefined =>
  text === undefined ? undefined : Buffer.from(text, "base64");

/** Reads server and credentials of the current context: token or client certificate, with data inline. */
const readKubeconfig = (path: string) => {
  const config = parse(readFileSync(path, "utf8")) as Kubeconfig;
  const context = config.contexts.find(({ name }) => name === config["current-context"])?.context;
  const cluster = config.clusters.find(({ name }) => name === context?.cluster)?.cluster;
  const user = config.users.find(({ name }) => name === context?.user)?.user;
  if (!cluster?.["server"] || !user) throw new Error(`${path}: the current context has no cluster or user`);
  return { server: new URL(cluster["server"]), cluster, user };
};

/** Node.js frames no body of a DELETE by itself. */
const framing = (body: string | undefined): Record<string, string> =>
  body === undefined ? {} : { "Content-Length": String(Buffer.byteLength(body)) };

const REQUEST_TIMEOUT_MS = 30_000;

/** The cluster of a kubeconfig. */
export const createTarget = (name: string, kubeconfig: string): Target => {
  const { server, cluster, user } = readKubeconfig(kubeconfig);
  const isTls = server.protocol === "https:";
  const agent = isTls
    ? new HttpsAgent({
        keepAlive: true,
        ca: decode(cluster["certificate-authority-data"]),
        cert: decode(user["client-certificate-data"]),
        key: decode(user["client-key-data"]),
      })
    : new HttpAgent({ keepAlive: true });
  const authorization: Record<string, string> = user["token"] ? { Authorization: `Bearer ${user["token"]}` } : {};
  return {
    name,
    kubeconfig,
    close: () => agent.destroy(),
    send: ({ method, path, headers, body }) =>
      new Promise((resolve, reject) => {
        const options: RequestOptions = {
          method,
          agent,
          host: server.hostname,
          port: server.port,
          path,
          headers: { "User-Agent": "apiserver-suite/1", ...authorization, ...framing(body), ...headers },
        };
        const request = (isTls ? httpsRequest : httpRequest)(options, resolve);
        request.setTimeout(REQUEST_TIMEOUT_MS, () => request.destroy(new Error(`${method} ${path}: no answer`)));
        request.on("error", reject);
        request.end(body);
      }),
  };
};
