import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One request as it arrived, before it was answered. */
export interface SeenRequest {
  method: string;
  /** Path and query. */
  url: string;
  headers: IncomingMessage["headers"];
}

/** Answers instead of the registry; returns false to let the registry answer. */
export type Intercept = (request: SeenRequest, response: ServerResponse) => boolean;

/** An OCI registry in memory, for tests: correct until `intercept` makes it fail. */
export interface FakeRegistry {
  url: string;
  /** `host:port`. */
  host: string;
  requests: SeenRequest[];
  intercept: Intercept | undefined;
  blobs(repository: string): Map<string, Buffer>;
  /** Tags and digests to manifests. */
  manifests(repository: string): Map<string, StoredManifest>;
  /** Uploads that were begun and neither finished nor cancelled. */
  openUploads(): number;
  /** Stores a blob. @returns its digest */
  addBlob(repository: string, bytes: Buffer): string;
  /** Stores a manifest by digest. @returns the digest */
  addManifest(repository: string, document: unknown, mediaType: string): string;
  close(): Promise<void>;
}

export interface StoredManifest {
  bytes: Buffer;
  mediaType: string;
}

interface Upload {
  repository: string;
  state: string;
  bytes: Buffer;
}

interface State {
  blobs: Map<string, Map<string, Buffer>>;
  manifests: Map<string, Map<string, StoredManifest>>;
  uploads: Map<string, Upload>;
}

interface Exchange {
  state: State;
  method: string;
  url: URL;
  headers: IncomingMessage["headers"];
  body: Buffer;
  response: ServerResponse;
}

/** Starts one on a free loopback port. */
export async function startFakeRegistry(): Promise<FakeRegistry> {
  const state: State = { blobs: new Map(), manifests: new Map(), uploads: new Map() };
  const server = createServer((request, response) => void handle(request, response));
  const registry: FakeRegistry = {
    url: "",
    host: "",
    requests: [],
    intercept: undefined,
    blobs: (repository) => inner(state.blobs, repository),
    manifests: (repository) => inner(state.manifests, repository),
    openUploads: () => state.uploads.size,
    addBlob: (repository, bytes) => storeBlob(state, repository, bytes),
    addManifest: (repository, document, mediaType) => {
      const bytes = Buffer.from(JSON.stringify(document));
      const digest = sha256(bytes);
      inner(state.manifests, repository).set(digest, { bytes, mediaType });
      return digest;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const seen = { method: request.method ?? "", url: request.url ?? "", headers: request.headers };
    registry.requests.push(seen);
    if (registry.intercept?.(seen, response)) return void request.resume();
    const body = await readBody(request).catch(() => undefined);
    if (body === undefined) return;
    answer({ state, ...seen, url: new URL(seen.url, registry.url), body, response });
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  registry.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  registry.url = `http://${registry.host}`;
  return registry;
}

const ROUTES: [RegExp, (exchange: Exchange, repository: string, rest: string) => void][] = [
  [/^\/v2\/()()$/, ({ response }) => void response.end()],
  [/^\/v2\/(.+)\/blobs\/uploads\/([^/]*)$/, answerUpload],
  [/^\/v2\/(.+)\/blobs\/([^/]+)$/, answerBlob],
  [/^\/v2\/(.+)\/manifests\/([^/]+)$/, answerManifest],
  [/^\/v2\/(.+)\/(tags\/list)$/, answerTags],
];

function answer(exchange: Exchange): void {
  for (const [pattern, route] of ROUTES) {
    const match = pattern.exec(exchange.url.pathname);
    if (match) return route(exchange, match[1] ?? "", match[2] ?? "");
  }
  exchange.response.writeHead(404).end();
}

function answerUpload(exchange: Exchange, repository: string, id: string): void {
  const { state, method, url, body, response } = exchange;
  if (method === "POST") return beginUpload(exchange, repository);
  const upload = state.uploads.get(id);
  if (!upload || url.searchParams.get("_state") !== upload.state) return void response.writeHead(404).end();
  if (method === "DELETE") {
    state.uploads.delete(id);
    return void response.writeHead(204).end();
  }
  upload.bytes = Buffer.concat([upload.bytes, body]);
  if (method === "PATCH") return offerUpload(exchange, repository, id, upload);
  state.uploads.delete(id);
  if (sha256(upload.bytes) !== url.searchParams.get("digest")) return void response.writeHead(400).end();
  response.writeHead(201, { "docker-content-digest": storeBlob(state, repository, upload.bytes) }).end();
}

function beginUpload(exchange: Exchange, repository: string): void {
  const { state, url, response } = exchange;
  const digest = url.searchParams.get("mount") ?? "";
  const mounted = state.blobs.get(url.searchParams.get("from") ?? "")?.get(digest);
  if (mounted) {
    storeBlob(state, repository, mounted);
    return void response.writeHead(201, { location: `/v2/${repository}/blobs/${digest}` }).end();
  }
  const upload = { repository, state: "", bytes: Buffer.alloc(0) };
  const id = randomUUID();
  state.uploads.set(id, upload);
  offerUpload(exchange, repository, id, upload);
}

/** The state changes with every step, as it does in the reference implementation. */
function offerUpload({ response }: Exchange, repository: string, id: string, upload: Upload): void {
  upload.state = randomUUID();
  response.writeHead(202, { location: `/v2/${repository}/blobs/uploads/${id}?_state=${upload.state}` }).end();
}

function answerBlob({ state, headers, response }: Exchange, repository: string, digest: string): void {
  const blob = state.blobs.get(repository)?.get(digest);
  if (!blob) return void response.writeHead(404).end();
  if (headers.range === "bytes=0-0") return void response.writeHead(206).end(blob.subarray(0, 1));
  response.writeHead(200, { "content-length": blob.length }).end(blob);
}

function answerManifest(exchange: Exchange, repository: string, reference: string): void {
  const { state, method, headers, body, response } = exchange;
  const manifests = inner(state.manifests, repository);
  if (method === "PUT") {
    const stored = { bytes: body, mediaType: headers["content-type"] ?? "" };
    manifests.set(reference, stored).set(sha256(body), stored);
    return void response.writeHead(201).end();
  }
  const found = manifests.get(reference);
  if (!found) return void response.writeHead(404).end();
  if (method !== "DELETE") return void response.writeHead(200, { "content-type": found.mediaType }).end(found.bytes);
  for (const [name, { bytes }] of manifests) if (bytes.equals(found.bytes)) manifests.delete(name);
  response.writeHead(202).end();
}

/** Pages as the specification has them: `n` and `last`, the next page in `Link`. */
function answerTags({ state, url, response }: Exchange, repository: string): void {
  const last = url.searchParams.get("last") ?? "";
  const tags = [...inner(state.manifests, repository).keys()].filter((name) => !name.startsWith("sha256:")).sort();
  const rest = tags.filter((tag) => tag > last);
  const page = rest.slice(0, Number(url.searchParams.get("n") ?? rest.length));
  const next = `</v2/${repository}/tags/list?n=${url.searchParams.get("n")}&last=${page.at(-1)}>; rel="next"`;
  response
    .writeHead(200, page.length < rest.length ? { link: next } : {})
    .end(JSON.stringify({ name: repository, tags: page }));
}

function storeBlob(state: State, repository: string, bytes: Buffer): string {
  const digest = sha256(bytes);
  inner(state.blobs, repository).set(digest, bytes);
  return digest;
}

function inner<T>(outer: Map<string, Map<string, T>>, key: string): Map<string, T> {
  const found = outer.get(key) ?? new Map<string, T>();
  outer.set(key, found);
  return found;
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function sha256(bytes: Buffer): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}
