import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ApiStatusError } from "../store/api-status-error.js";
import { makeAuthenticate } from "./http/authenticate.js";
import { findDocument } from "./http/documents.js";
import { sendJson, toStatus } from "./http/exchange.js";
import type { PodLogs } from "./http/pod-log.js";
import { parseResourcePath } from "./http/request-info.js";
import { routeResource } from "./http/route.js";
import { writeKubeconfig } from "./kubeconfig.js";
import type { ServedStore } from "./served-store.js";
import { createDualListener } from "./tls/dual-listener.js";
import { makeSelfSigned, type Certificate } from "./tls/self-signed.js";

export interface ApiServerOptions {
  store: ServedStore;
  /** The bearer secret of the installation. */
  token: string;
  /** What HTTPS shows; without it, one made for this start. See loadOrMakeCertificate. */
  certificate?: Certificate;
  /** Reads the logs of pods; without it `pods/log` says that no node does. */
  podLogs?: PodLogs;
  /** Hears of faults of the server itself, never of refusals. */
  onError?: (error: unknown) => void;
}

export interface ApiServer {
  /**
   * Listens on a loopback address (port 0: any free one) and answers the server's URL, `http://…`.
   * The same port speaks HTTPS, since kubectl sends a token over nothing else.
   */
  listen(address?: { port?: number; host?: string }): Promise<string>;
  /** Writes a kubeconfig, readable by its owner only, for the address that is listened on. */
  writeKubeconfig(path: string): void;
  /** Ends watches and waits for other requests; those that are idle are cut. */
  close(): Promise<void>;
}

const HEALTH_PATHS = new Set(["/healthz", "/livez", "/readyz"]);

const noNode: PodLogs = () => {
  throw new ApiStatusError(503, "ServiceUnavailable", "no node runs here, so there are no logs");
};

const sendText = (response: ServerResponse, code: number, text: string, contentType = "text/plain"): void => {
  response.writeHead(code, { "Content-Type": contentType, "Content-Length": Buffer.byteLength(text) });
  response.end(text);
};

const notServed = (path: string): ApiStatusError =>
  new ApiStatusError(
    404,
    "NotFound",
    `the server could not find the requested resource (the embedded cluster does not serve ${path})`,
    {},
  );

/** The Kubernetes API over HTTP, on loopback, for whoever knows the secret. */
export const createApiServer = (options: ApiServerOptions): ApiServer => {
  const { store, token, podLogs = noNode, onError = () => undefined } = options;
  const authenticate = makeAuthenticate(token);

  const dispatch = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? "/", "http://localhost");
    if (HEALTH_PATHS.has(url.pathname)) return sendText(response, 200, "ok");
    authenticate(request);
    const path = parseResourcePath(url.pathname);
    if (path) return routeResource(path, { request, response, query: url.searchParams }, { store, podLogs });
    const document = findDocument(url.pathname, request.headers.accept, store);
    if (!document) throw notServed(url.pathname);
    const { body, contentType = "application/json" } = document;
    return sendText(response, 200, typeof body === "string" ? body : JSON.stringify(body), contentType);
  };

  const refuse = (request: IncomingMessage, response: ServerResponse, error: unknown): void => {
    const status = toStatus(error);
    if (!(error instanceof ApiStatusError)) onError(error);
    if (response.headersSent) return void response.destroy();
    // What is left of a body that was refused unread must not be taken for the next request.
    if (!request.complete) response.setHeader("Connection", "close");
    if (status.code === 401) response.setHeader("WWW-Authenticate", "Bearer");
    sendJson(response, { code: status.code, body: status });
  };

  const certificate = options.certificate ?? makeSelfSigned("sless-devcluster", Date.now());
  const listener = createDualListener(certificate, (request, response) => {
    dispatch(request, response).catch((error: unknown) => refuse(request, response, error));
  });
  return {
    listen: async ({ port = 0, host = "127.0.0.1" } = {}) => `http://${hostAndPort(await listener.listen(port, host))}`,
    writeKubeconfig: (path) => {
      const address = listener.address();
      if (!address) throw new Error("the API server is not listening yet");
      writeKubeconfig(path, { url: `https://${hostAndPort(address)}`, token, certificate: certificate.cert });
    },
    close: () => listener.close(),
  };
};

const hostAndPort = ({ address, family, port }: AddressInfo): string =>
  family === "IPv6" ? `[${address}]:${port}` : `${address}:${port}`;
