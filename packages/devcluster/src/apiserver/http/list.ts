import { ApiStatusError, badRequest } from "../../store/api-status-error.js";
import type { KubeObject, ListOptions } from "../../store/types.js";
import { forbiddenField, invalidOptions } from "../objects/field-error.js";
import { ok, type Answer, type Exchange } from "./exchange.js";
import { represent } from "./representation.js";

interface Continuation {
  version: number;
  /** The key of the last object that was sent. */
  after: string;
}

const encodeContinue = (continuation: Continuation): string =>
  Buffer.from(JSON.stringify(continuation)).toString("base64url");

const decodeContinue = (token: string): Continuation => {
  try {
    const { version, after } = JSON.parse(Buffer.from(token, "base64url").toString()) as Continuation;
    if (Number.isSafeInteger(version) && typeof after === "string") return { version, after };
  } catch {
    // Falls through to the refusal.
  }
  throw badRequest("continue key is not valid");
};

const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ""}/${metadata.name}`;

/** `limit` of the query; absent or 0 means all. */
const parseLimit = (query: URLSearchParams): number => {
  const text = query.get("limit");
  if (text === null || text === "") return 0;
  if (!/^\d{1,9}$/.test(text)) throw badRequest(`limit: ${JSON.stringify(text)} is not a number`);
  return Number(text);
};

export const selectionOf = ({ query, namespace, name }: Exchange): ListOptions => {
  const fields = [query.get("fieldSelector"), name ? `metadata.name=${name}` : ""].filter(Boolean);
  return {
    namespace,
    labelSelector: query.get("labelSelector") ?? undefined,
    fieldSelector: fields.join(","),
  };
};

/** A version that is no number is answered like this by kube-apiserver, as a fault of its own. */
export const badVersion = (version: string): ApiStatusError =>
  new ApiStatusError(
    500,
    "",
    `resourceVersion: Invalid value: ${JSON.stringify(version)}: strconv.ParseUint: parsing ${JSON.stringify(version)}: invalid syntax`,
  );

const EXPIRED_CONTINUE =
  "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.";

/** The version whose state a list shows: that of its first page, or one that was asked for exactly. */
const versionFor = (exchange: Exchange, continuation: Continuation | undefined): number | undefined => {
  if (continuation) return continuation.version;
  const { query, store } = exchange;
  const asked = query.get("resourceVersion");
  const match = query.get("resourceVersionMatch");
  if (asked === null || asked === "") {
    if (match)
      throw invalidOptions("ListOptions", [
        forbiddenField("resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided"),
      ]);
    return undefined;
  }
  if (!/^\d{1,15}$/.test(asked)) throw badVersion(asked);
  if (Number(asked) > Number(store.resourceVersion()))
    throw new ApiStatusError(
      504,
      "Timeout",
      `Too large resource version: ${asked}, current: ${store.resourceVersion()}`,
      { causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }], retryAfterSeconds: 1 },
    );
  return match === "Exact" ? Number(asked) : undefined;
};

const listState = (exchange: Exchange, continuation: Continuation | undefined) => {
  try {
    return exchange.store.listAt(exchange.type, selectionOf(exchange), versionFor(exchange, continuation));
  } catch (error) {
    if (continuation && error instanceof ApiStatusError && error.code === 410)
      throw new ApiStatusError(410, "Expired", EXPIRED_CONTINUE);
    throw error;
  }
};

/** GET of a collection: a consistent list, in pages where `limit` asks for them. */
export const handleList = (exchange: Exchange): Answer => {
  const token = exchange.query.get("continue");
  const continuation = token ? decodeContinue(token) : undefined;
  const limit = parseLimit(exchange.query);
  const state = listState(exchange, continuation);
  const remaining = continuation ? state.items.filter((object) => keyOf(object) > continuation.after) : state.items;
  const page = limit > 0 ? remaining.slice(0, limit) : remaining;
  const left = remaining.length - page.length;
  const last = page.at(-1);
  const metadata = {
    resourceVersion: state.resourceVersion,
    ...(left > 0 && last
      ? {
          continue: encodeContinue({ version: Number(state.resourceVersion), after: keyOf(last) }),
          ...(exchange.query.get("labelSelector") || exchange.query.get("fieldSelector")
            ? {}
            : { remainingItemCount: left }),
        }
      : {}),
  };
  return ok(represent(exchange, { metadata, items: page }));
};
