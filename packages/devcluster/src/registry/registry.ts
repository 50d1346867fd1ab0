import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { loopbackRefusal } from "../loopback-guard.js";
import { closeServer, listenOn } from "../loopback-server.js";
import { createBasicCheck, type BasicCredentials } from "./basic-auth.js";
import { createBlobHandlers, type Exchange } from "./blob-handlers.js";
import { createBlobStore } from "./blob-store.js";
import { RegistryError } from "./errors.js";
import { collectGarbage, type GarbageReport } from "./garbage.js";
import { createManifestHandlers } from "./manifest-handlers.js";
import { createManifestStore } from "./manifest-store.js";
import { parseRoute, type Route } from "./routes.js";
import { createUploads } from "./uploads.js";

export interface RegistryOptions {
  dataDir: string;
  credentials: BasicCredentials;
  /** Loopback address; default 127.0.0.1. */
  host?: string;
  /** Default 0: any free port. */
  port?: number;
  /** Largest blob, bytes; default 2 GiB. */
  maxBlobBytes?: number;
  /** Called with what was not meant to fail, such as a full disk; the client is answered 500. */
  onError?: (error: unknown) => void;
}

export interface Registry {
  /** `host:port`, as image references begin. */
  readonly host: string;
  readonly url: string;
  readonly credentials: BasicCredentials;
  collectGarbage(options: { graceMs: number }): Promise<GarbageReport>;
  close(): Promise<void>;
}

const MAX_OPEN_UPLOADS = 256;
const UPLOAD_IDLE_MS = 60 * 60 * 1000;
const DEFAULT_MAX_BLOB = 2 * 1024 ** 3;

/** Runs one task after another. */
const createSerializer = () => {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(task: () => Promise<T>): Promise<T> => {
    const run = last.then(task, task);
    last = run.catch(() => undefined);
    return run;
  };
};

const sendError = (req: IncomingMessage, res: ServerResponse, error: RegistryError): void => {
  if (res.headersSent) {
    res.destroy();
    return;
  }
  const challenge = error.code === "UNAUTHORIZED" ? { "WWW-Authenticate": 'Basic realm="devcluster registry"' } : {};
  // A body that was not read to its end would be taken for the next request.
  const unread = req.readableEnded ? {} : { Connection: "close" };
  res.writeHead(error.status, { "Content-Type": "application/json", ...challenge, ...unread });
  res.end(req.method === "HEAD" ? undefined : error.toBody());
};

/**
 * An OCI distribution registry (specification v1.1 without referrers) on disk, behind one Basic login.
 * Files are content-addressed and come by rename, so a killed process leaves nothing half-written in sight.
 */
export const createRegistry = async (options: RegistryOptions): Promise<Registry> => {
  const { dataDir, credentials, host = "127.0.0.1" } = options;
  const blobs = createBlobStore(dataDir);
  const manifests = createManifestStore(dataDir, blobs);
  const uploads = await createUploads(join(dataDir, "uploads"), {
    maxBlobBytes: options.maxBlobBytes ?? DEFAULT_MAX_BLOB,
    maxSessions: MAX_OPEN_UPLOADS,
    idleMs: UPLOAD_IDLE_MS,
  });
  const serialize = createSerializer();
  const blobHandlers = createBlobHandlers(blobs, uploads);
  const manifestHandlers = createManifestHandlers({
    ...manifests,
    // Not while garbage is swept: the sweep would not know what this manifest references.
    put: (...args) => serialize(() => manifests.put(...args)),
  });
  const isAllowed = createBasicCheck(credentials);

  const dispatch = (route: Route, exchange: Exchange): Promise<void> => {
    switch (route.kind) {
      case "base":
        exchange.res.writeHead(200, { "Content-Type": "application/json" }).end("{}");
        return Promise.resolve();
      case "catalog":
        return manifestHandlers.catalog(exchange);
      case "tags":
        return manifestHandlers.tags(exchange, route.repository);
      case "manifest":
        return manifestHandlers.manifest(exchange, route.repository, route.reference);
      case "blob":
        return blobHandlers.blob(exchange, route.repository, route.digest);
      case "uploads":
        return blobHandlers.startUpload(exchange, route.repository);
      case "upload":
        return blobHandlers.upload(exchange, route.repository, route.id);
    }
  };
  const admit = ({ headers }: IncomingMessage): void => {
    const refusal = loopbackRefusal(headers);
    if (refusal) throw new RegistryError("DENIED", refusal);
    if (!isAllowed(headers.authorization)) throw new RegistryError("UNAUTHORIZED", "authentication required");
  };

  const handle = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    try {
      res.setHeader("Docker-Distribution-Api-Version", "registry/2.0");
      admit(req);
      const [path = "", search = ""] = (req.url ?? "").split("?", 2);
      await dispatch(parseRoute(path), { req, res, query: new URLSearchParams(search) });
    } catch (error) {
      if (error instanceof RegistryError) return sendError(req, res, error);
      if (!req.destroyed) options.onError?.(error);
      if (res.headersSent) res.destroy();
      else res.writeHead(500, { Connection: "close" }).end();
    }
  };

  const server = createServer((req, res) => void handle(req, res));
  const authority = await listenOn(server, host, options.port ?? 0);

  return {
    host: authority,
    url: `http://${authority}`,
    credentials,
    collectGarbage: ({ graceMs }) => serialize(() => collectGarbage(blobs, manifests, graceMs)),
    async close() {
      await closeServer(server);
      await uploads.close();
    },
  };
};
