import type { Change } from "./event-history.js";
import type { Storage, TypeKey } from "./storage.js";
import type { KubeObject, WatchEvent, WatchListener } from "./types.js";

export type Matches = (object: KubeObject) => boolean;

/** What a change is to a watcher with a selector: an object that stops matching is DELETED for it. */
const toEvent = (change: Change, matches: Matches): WatchEvent | undefined => {
  const { before, after } = change;
  const was = before !== undefined && matches(before);
  const is = after !== undefined && matches(after);
  if (is) return { type: was ? "MODIFIED" : "ADDED", object: after };
  if (!was || !before) return undefined;
  if (change.tombstone) return { type: "DELETED", object: change.tombstone };
  const version = String(change.version);
  return {
    type: "DELETED",
    object: { ...before, metadata: { ...before.metadata, resourceVersion: version } },
  };
};

export interface WatchRequest {
  typeKey: TypeKey;
  matches: Matches;
  /** Absent: the present objects come first, as ADDED. */
  fromVersion: number | undefined;
}

/**
 * Delivers what lies behind (or the present objects) in a microtask, then every change as it comes.
 * @throws 410 Expired when the version is older than what is kept
 */
export const startWatch = (
  storage: Storage,
  { typeKey, matches, fromVersion }: WatchRequest,
  listener: WatchListener,
): (() => void) => {
  const backlog =
    fromVersion === undefined
      ? storage
          .list(typeKey)
          .filter(matches)
          .map((object): WatchEvent => ({ type: "ADDED", object }))
      : storage
          .changesSince(typeKey, fromVersion)
          .map((change) => toEvent(change, matches))
          .filter((event) => event !== undefined);
  // The backlog reaches up to now; changes up to now that are still queued for delivery are in it.
  let seen = Math.max(storage.version, fromVersion ?? 0);
  let ended = false;
  const deliverBacklog = () => {
    for (const event of backlog.splice(0)) if (!ended) listener(event);
  };
  queueMicrotask(deliverBacklog);
  const unsubscribe = storage.subscribe(typeKey, (change) => {
    if (change.version <= seen) return;
    seen = change.version;
    deliverBacklog();
    const event = toEvent(change, matches);
    if (event && !ended) listener(event);
  });
  return () => {
    ended = true;
    unsubscribe();
  };
};
