import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { parseByteRange } from "../byte-range.js";
import type { BlobStore } from "./blob-store.js";
import { RegistryError } from "./errors.js";
import { parseDigest, parseRepository, type Digest } from "./names.js";
import type { Uploads } from "./uploads.js";

export interface Exchange {
  req: IncomingMessage;
  res: ServerResponse;
  query: URLSearchParams;
}

export interface BlobHandlers {
  blob(exchange: Exchange, repository: string, digest: string): Promise<void>;
  startUpload(exchange: Exchange, repository: string): Promise<void>;
  upload(exchange: Exchange, repository: string, id: string): Promise<void>;
}

/** The offset that a chunk claims to begin at (`Content-Range: 0-99`, without a unit, as the specification has it). */
const claimedOffset = (header: string | undefined): { at?: number } => {
  if (header === undefined) return {};
  const start = /^(?:bytes )?(\d{1,15})-\d{1,15}/.exec(header)?.[1];
  if (start === undefined) throw new RegistryError("BLOB_UPLOAD_INVALID", "Content-Range must be start-end");
  return { at: Number(start) };
};

export const createBlobHandlers = (blobs: BlobStore, uploads: Uploads): BlobHandlers => {
  const created = (res: ServerResponse, repository: string, digest: Digest): void => {
    res.writeHead(201, { Location: `/v2/${repository}/blobs/${digest}`, "Docker-Content-Digest": digest });
    res.end();
  };
  const pending = (res: ServerResponse, status: number, upload: { repository: string; id: string }): void => {
    const { repository, id } = upload;
    const offset = uploads.offset(id, repository);
    res.writeHead(status, {
      Location: `/v2/${repository}/blobs/uploads/${id}`,
      Range: `0-${Math.max(0, offset - 1)}`,
      "Docker-Upload-UUID": id,
    });
    res.end();
  };
  const finish = async (res: ServerResponse, upload: { repository: string; id: string }, digest: Digest) => {
    await blobs.adopt(await uploads.finish(upload.id, upload.repository, digest), digest, upload.repository);
    created(res, upload.repository, digest);
  };

  const read = async ({ req, res }: Exchange, repository: string, digest: Digest): Promise<void> => {
    const size = await blobs.size(repository, digest);
    const range = parseByteRange(req.headers.range, size);
    if (range === "unsatisfiable") {
      throw new RegistryError("BLOB_UPLOAD_INVALID", `range lies outside the ${size} bytes of the blob`);
    }
    const headers = { "Content-Type": "application/octet-stream", "Docker-Content-Digest": digest };
    const length = range ? range.end - range.start + 1 : size;
    const contentRange = range ? { "Content-Range": `bytes ${range.start}-${range.end}/${size}` } : {};
    res.writeHead(range ? 206 : 200, {
      ...headers,
      ...contentRange,
      "Content-Length": length,
      "Accept-Ranges": "bytes",
    });
    if (req.method === "HEAD" || length === 0) res.end();
    else await pipeline(blobs.read(digest, range), res);
  };

  return {
    async blob(exchange, repository, text) {
      const digest = parseDigest(text);
      if (exchange.req.method === "GET" || exchange.req.method === "HEAD") return read(exchange, repository, digest);
      if (exchange.req.method !== "DELETE") throw new RegistryError("UNSUPPORTED", "a blob takes GET, HEAD and DELETE");
      await blobs.unlink(repository, digest);
      exchange.res.writeHead(202).end();
    },
    async startUpload({ req, res, query }, repository) {
      if (req.method !== "POST") throw new RegistryError("UNSUPPORTED", "an upload starts with POST");
      const mount = query.get("mount");
      const from = query.get("from");
      if (
        mount !== null &&
        from !== null &&
        (await blobs.mount(parseDigest(mount), parseRepository(from), repository))
      ) {
        return created(res, repository, parseDigest(mount));
      }
      const digest = query.has("digest") ? parseDigest(query.get("digest")) : undefined;
      const id = await uploads.start(repository);
      if (!digest) return pending(res, 202, { repository, id });
      await uploads.append(id, repository, { body: req });
      await finish(res, { repository, id }, digest);
    },
    async upload({ req, res, query }, repository, id) {
      const session = { repository, id };
      switch (req.method) {
        case "GET":
          return pending(res, 204, session);
        case "PATCH":
          await uploads.append(id, repository, { body: req, ...claimedOffset(req.headers["content-range"]) });
          return pending(res, 202, session);
        case "PUT": {
          const digest = parseDigest(query.get("digest"));
          await uploads.append(id, repository, { body: req, ...claimedOffset(req.headers["content-range"]) });
          return finish(res, session, digest);
        }
        case "DELETE":
          await uploads.cancel(id, repository);
          res.writeHead(204).end();
          return;
        default:
          throw new RegistryError("UNSUPPORTED", "an upload takes GET, PATCH, PUT and DELETE");
      }
    },
  };
};
