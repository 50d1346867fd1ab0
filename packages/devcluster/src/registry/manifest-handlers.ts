import type { IncomingMessage } from "node:http";
import type { Exchange } from "./blob-handlers.js";
import { RegistryError } from "./errors.js";
import type { ManifestStore } from "./manifest-store.js";
import { pageOf } from "./routes.js";

const MAX_MANIFEST_BYTES = 4 * 1024 * 1024;

export interface ManifestHandlers {
  manifest(exchange: Exchange, repository: string, reference: string): Promise<void>;
  tags(exchange: Exchange, repository: string): Promise<void>;
  catalog(exchange: Exchange): Promise<void>;
}

const readBody = async (req: IncomingMessage): Promise<Buffer> => {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of req as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MAX_MANIFEST_BYTES) {
      throw new RegistryError("SIZE_INVALID", `a manifest may have at most ${MAX_MANIFEST_BYTES} bytes`);
    }
    parts.push(part);
  }
  return Buffer.concat(parts);
};

const sendPage = ({ req, res, query }: Exchange, key: string, rest: { all: string[]; path: string; name?: string }) => {
  const { items, link } = pageOf(rest.all, query, rest.path);
  const body = JSON.stringify({ ...(rest.name ? { name: rest.name } : {}), [key]: items });
  res.writeHead(200, { "Content-Type": "application/json", ...(link ? { Link: link } : {}) });
  res.end(req.method === "HEAD" ? undefined : body);
};

const mediaTypeOf = (req: IncomingMessage): string => {
  const type = req.headers["content-type"]?.split(";")[0]?.trim() ?? "";
  if (!/^[\w.+/-]{1,255}$/.test(type)) throw new RegistryError("MANIFEST_INVALID", "a manifest needs a Content-Type");
  return type;
};

export const createManifestHandlers = (manifests: ManifestStore): ManifestHandlers => {
  const read = async ({ req, res }: Exchange, repository: string, reference: string): Promise<void> => {
    const { digest, mediaType, body } = await manifests.get(repository, reference);
    res.writeHead(200, {
      "Content-Type": mediaType,
      "Content-Length": body.length,
      "Docker-Content-Digest": digest,
    });
    res.end(req.method === "HEAD" ? undefined : body);
  };

  return {
    async manifest(exchange, repository, reference) {
      const { req, res } = exchange;
      switch (req.method) {
        case "GET":
        case "HEAD":
          return read(exchange, repository, reference);
        case "PUT": {
          const body = await readBody(req);
          const digest = await manifests.put(repository, reference, { body, mediaType: mediaTypeOf(req) });
          res.writeHead(201, { Location: `/v2/${repository}/manifests/${digest}`, "Docker-Content-Digest": digest });
          res.end();
          return;
        }
        case "DELETE":
          await manifests.remove(repository, reference);
          res.writeHead(202).end();
          return;
        default:
          throw new RegistryError("UNSUPPORTED", "a manifest takes GET, HEAD, PUT and DELETE");
      }
    },
    async tags(exchange, repository) {
      if (!(await manifests.allFolders()).includes(repository)) {
        throw new RegistryError("NAME_UNKNOWN", "repository unknown", repository);
      }
      const all = await manifests.tags(repository);
      sendPage(exchange, "tags", { all, path: `/v2/${repository}/tags/list`, name: repository });
    },
    async catalog(exchange) {
      sendPage(exchange, "repositories", { all: await manifests.repositories(), path: "/v2/_catalog" });
    },
  };
};
