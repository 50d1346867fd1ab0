import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** An S3-like as strict as those that refuse the newest SDK (D35). */
export interface FakeS3Options {
  region?: string;
  bucket?: string;
  accessKeyId?: string;
  secretAccessKey?: string;
  /** Bulk delete without Content-MD5 gets 400. Default true. */
  demandContentMd5?: boolean;
  /** Keys of one page of a list. Default 1000. */
  pageSize?: number;
}

export interface SeenS3Request {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
}

export interface FakeS3 {
  url: string;
  region: string;
  bucket: string;
  accessKeyId: string;
  secretAccessKey: string;
  objects: Map<string, Buffer>;
  requests: SeenS3Request[];
  /** Answers instead of the store; returns false to let the store answer. */
  intercept: ((request: SeenS3Request, response: ServerResponse) => boolean) | undefined;
  close(): Promise<void>;
}

interface Exchange {
  store: FakeS3;
  method: string;
  url: URL;
  key: string;
  headers: IncomingMessage["headers"];
  body: Buffer;
  response: ServerResponse;
  options: FakeS3Options;
}

/**
 * Starts one on a free loopback port: path-style only, one region, no checksum headers or trailers (501), bulk deletes
 * only with an MD5, signatures verified in headers and presigned URLs.
 */
export async function startFakeS3(options: FakeS3Options = {}): Promise<FakeS3> {
  const server = createServer((request, response) => void handle(request, response));
  const store: FakeS3 = {
    url: "",
    region: options.region ?? "ru-central1",
    bucket: options.bucket ?? "code",
    accessKeyId: options.accessKeyId ?? "key",
    secretAccessKey: options.secretAccessKey ?? "secret",
    objects: new Map(),
    requests: [],
    intercept: undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const seen = { method: request.method ?? "", url: request.url ?? "", headers: request.headers };
    store.requests.push(seen);
    if (store.intercept?.(seen, response)) return void request.resume();
    const body = await readBody(request).catch(() => undefined);
    if (body === undefined) return;
    const url = new URL(seen.url, store.url);
    const key = decodeURIComponent(url.pathname.slice(`/${store.bucket}/`.length));
    const exchange = { store, ...seen, url, key, body, response, options };
    const refusal = refusalOf(exchange);
    if (refusal) return fail(response, refusal[0], refusal[1]);
    answer(exchange);
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  store.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return store;
}

function refusalOf({ store, url, headers, method, body }: Exchange): [number, string] | undefined {
  const names = [...Object.keys(headers), ...[...url.searchParams.keys()].map((name) => name.toLowerCase())];
  if (names.some((name) => /^x-amz-(checksum|sdk-checksum|trailer)/.test(name))) return [501, "NotImplemented"];
  if (!url.pathname.startsWith(`/${store.bucket}`)) return [404, "NoSuchBucket"];
  const scope = signatureScope(url, headers);
  if (scope?.region !== store.region) return [400, "AuthorizationHeaderMalformed"];
  if (!isSigned(store, { url, headers, method, scope })) return [403, "SignatureDoesNotMatch"];
  const length = headers["content-length"];
  if (method === "PUT" && length === undefined) return [411, "MissingContentLength"];
  return length !== undefined && Number(length) !== body.length ? [400, "IncompleteBody"] : undefined;
}

interface SignatureScope {
  date: string;
  region: string;
  signedHeaders: string[];
  signature: string;
  presigned: boolean;
}

function signatureScope(url: URL, headers: IncomingMessage["headers"]): SignatureScope | undefined {
  const query = url.searchParams;
  const presigned = query.has("X-Amz-Signature");
  const header = headers.authorization ?? "";
  const field = (name: string) => new RegExp(`${name}=([^, ]+)`).exec(header)?.[1] ?? "";
  const [, date, region] = (presigned ? (query.get("X-Amz-Credential") ?? "") : field("Credential")).split("/");
  const signedHeaders = (presigned ? (query.get("X-Amz-SignedHeaders") ?? "") : field("SignedHeaders")).split(";");
  const signature = presigned ? (query.get("X-Amz-Signature") ?? "") : field("Signature");
  return date === undefined || region === undefined ? undefined : { date, region, signedHeaders, signature, presigned };
}

interface Signed {
  url: URL;
  headers: IncomingMessage["headers"];
  method: string;
  scope: SignatureScope;
}

/** AWS Signature Version 4, as documented for S3. */
function isSigned(store: FakeS3, { url, headers, method, scope }: Signed): boolean {
  const query = [...url.searchParams]
    .filter(([name]) => name !== "X-Amz-Signature")
    .map(([name, value]) => `${encode(name)}=${encode(value)}`);
  const canonical = [
    method,
    url.pathname,
    query.sort().join("&"),
    ...scope.signedHeaders.map((name) => `${name}:${String(headers[name]).trim()}`),
    "",
    scope.signedHeaders.join(";"),
    scope.presigned ? "UNSIGNED-PAYLOAD" : headers["x-amz-content-sha256"],
  ].join("\n");
  const time = scope.presigned ? url.searchParams.get("X-Amz-Date") : headers["x-amz-date"];
  const scopeText = `${scope.date}/${scope.region}/s3/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", time, scopeText, createHash("sha256").update(canonical).digest("hex")].join("\n");
  const secret = `AWS4${store.secretAccessKey}`;
  const key = [scope.date, scope.region, "s3", "aws4_request"].reduce<Buffer | string>(
    (previous, part) => createHmac("sha256", previous).update(part).digest(),
    secret,
  );
  return createHmac("sha256", key).update(text).digest("hex") === scope.signature;
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

function answer(exchange: Exchange): void {
  const { store, method, url, key, response } = exchange;
  if (method === "POST" && url.searchParams.has("delete")) return bulkDelete(exchange);
  if (key === "") return method === "GET" ? list(exchange) : void response.end();
  if (method === "PUT") {
    store.objects.set(key, exchange.body);
    return void response.end();
  }
  if (method === "DELETE") {
    store.objects.delete(key);
    return void response.writeHead(204).end();
  }
  const object = store.objects.get(key);
  if (!object) return fail(response, 404, "NoSuchKey");
  response.writeHead(200, { "content-length": object.length, "last-modified": new Date(0).toUTCString() });
  response.end(method === "HEAD" ? undefined : object);
}

function bulkDelete({ store, headers, body, response, options }: Exchange): void {
  const md5 = createHash("md5").update(body).digest("base64");
  if ((options.demandContentMd5 ?? true) && headers["content-md5"] !== md5)
    return fail(response, 400, "MissingContentMD5");
  const keys = [...body.toString().matchAll(/<Key>([^<]*)<\/Key>/g)].map((match) => match[1] ?? "");
  keys.forEach((key) => store.objects.delete(key));
  const deleted = keys.map((key) => `<Deleted><Key>${key}</Key></Deleted>`).join("");
  response.end(`<DeleteResult>${deleted}</DeleteResult>`);
}

function list({ store, url, response, options }: Exchange): void {
  const prefix = url.searchParams.get("prefix") ?? "";
  const after = url.searchParams.get("continuation-token") ?? "";
  const keys = [...store.objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
  const page = keys.slice(0, options.pageSize ?? 1000);
  const contents = page.map(
    (key) => `<Contents><Key>${key}</Key><Size>${store.objects.get(key)?.length}</Size></Contents>`,
  );
  const more = page.length < keys.length;
  const next = more ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : "";
  response.end(`<ListBucketResult><IsTruncated>${more}</IsTruncated>${next}${contents.join("")}</ListBucketResult>`);
}

function fail(response: ServerResponse, status: number, code: string): void {
  response
    .writeHead(status, { "content-type": "application/xml" })
    .end(`<Error><Code>${code}</Code><Message>${code}</Message></Error>`);
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
