import { ApiStatusError, badRequest } from "../../store/api-status-error.js";
import type { KubeObject, WatchEvent } from "../../store/types.js";
import { toStatus, type Exchange } from "./exchange.js";
import { badVersion, selectionOf } from "./list.js";
import { negotiate, representOne } from "./representation.js";

const BOOKMARK_MS = 10_000;
const DEFAULT_TIMEOUT_SECONDS = 1800;
/** A client that reads slower than the cluster changes is let go, and lists again. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

const parseTimeout = (query: URLSearchParams): number => {
  const text = query.get("timeoutSeconds");
  if (text === null || text === "" || text === "0") return DEFAULT_TIMEOUT_SECONDS * (1 + Math.random());
  if (!/^\d{1,7}$/.test(text)) throw badRequest(`timeoutSeconds: ${JSON.stringify(text)} is not a number`);
  return Number(text);
};

/** Writes one stream of events: JSON lines, each at once, until the client goes or the time is up. */
class EventStream {
  readonly #exchange: Exchange;
  #lastVersion: string;
  #rowsSent = 0;

  constructor(exchange: Exchange, startVersion: string) {
    this.#exchange = exchange;
    this.#lastVersion = startVersion;
  }

  get lastVersion(): string {
    return this.#lastVersion;
  }

  send({ type, object }: WatchEvent): void {
    this.#lastVersion = object.metadata.resourceVersion ?? this.#lastVersion;
    this.#write(type, this.#represent(object));
  }

  #represent(object: KubeObject): unknown {
    const body = representOne(this.#exchange, object) as Record<string, unknown>;
    if (body["kind"] !== "Table" || this.#rowsSent++ === 0) return body;
    return { ...body, columnDefinitions: null };
  }

  bookmark(version: string, annotations?: Record<string, string>): void {
    this.#lastVersion = version;
    const { type } = this.#exchange;
    const isTable = negotiate(this.#exchange.request.headers.accept) === "table";
    const metadata = { resourceVersion: version, ...(annotations ? { annotations } : {}) };
    this.#write(
      "BOOKMARK",
      isTable
        ? { kind: "Table", apiVersion: "meta.k8s.io/v1", metadata, columnDefinitions: null, rows: [] }
        : {
            kind: type.kind,
            apiVersion: type.group === "" ? type.version : `${type.group}/${type.version}`,
            metadata,
          },
    );
  }

  fail(error: unknown): void {
    this.#write("ERROR", toStatus(error));
  }

  #write(type: string, object: unknown): void {
    const { response } = this.#exchange;
    response.write(`${JSON.stringify({ type, object })}\n`);
    if (response.writableLength > MAX_UNREAD_BYTES) response.destroy();
  }
}

/** Whether the present objects come first, and a bookmark after them (streaming lists). */
const wantsInitialEvents = ({ query }: Exchange): boolean => {
  const asked = query.get("sendInitialEvents") === "true";
  if (asked && query.get("resourceVersionMatch") !== "NotOlderThan")
    throw badRequest(
      "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
    );
  return asked;
};

const startVersionOf = ({ query }: Exchange): string | undefined => {
  const version = query.get("resourceVersion") ?? "";
  if (!/^\d{0,15}$/.test(version)) throw badVersion(version);
  return version === "" || version === "0" ? undefined : version;
};

/** Ends with the client, at the timeout, or when the server closes. */
const keepOpen = (exchange: Exchange, stream: EventStream, seconds: number, stop: () => void): void => {
  const { response, store, query } = exchange;
  const wantsBookmarks = query.get("allowWatchBookmarks") === "true";
  const bookmark = () => {
    const version = store.resourceVersion();
    // Events up to this version may still be on their way in this turn: a macrotask comes after them.
    if (wantsBookmarks && version !== stream.lastVersion)
      setImmediate(() => response.writable && stream.bookmark(version));
  };
  const bookmarks = setInterval(bookmark, BOOKMARK_MS);
  const timeout = setTimeout(() => response.end(), seconds * 1000);
  response.on("close", () => {
    clearInterval(bookmarks);
    clearTimeout(timeout);
    stop();
  });
};

/** GET with `watch=true`: streams the events of a collection. */
export const handleWatch = (exchange: Exchange): void => {
  const { store, type, response } = exchange;
  const seconds = parseTimeout(exchange.query);
  const initial = wantsInitialEvents(exchange);
  const resourceVersion = initial ? undefined : startVersionOf(exchange);
  const stream = new EventStream(exchange, resourceVersion ?? "0");
  const selection = selectionOf(exchange);
  // A bad selector is refused before the stream begins.
  store.list(type, { ...selection, namespace: "" });
  response.writeHead(200, { "Content-Type": "application/json", "Cache-Control": "no-cache, private" });
  response.flushHeaders();
  try {
    const stop = store.watch(type, { ...selection, resourceVersion }, (event) => stream.send(event));
    const version = store.resourceVersion();
    if (initial) setImmediate(() => stream.bookmark(version, { "k8s.io/initial-events-end": "true" }));
    keepOpen(exchange, stream, seconds, stop);
  } catch (error) {
    if (!(error instanceof ApiStatusError)) throw error;
    stream.fail(error);
    response.end();
  }
};
