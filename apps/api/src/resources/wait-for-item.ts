import { judgeReady, type Item, type WaitOutcome } from "./judge-ready.js";
import { awaitChange } from "../platform/await-change.js";
import type { ChangeSignals } from "../platform/change-signals.js";
import type { ItemKey, Items } from "./items.js";

export interface WaitRequest {
  readonly key: ItemKey;
  readonly until: "ready" | "gone";
  readonly generation: number | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface Waited<T> {
  /** Undefined when it is gone. */
  readonly item: T | undefined;
  readonly outcome: WaitOutcome;
}

/** Waits for one item, woken by the watch. An item that is gone can't become ready: that ends the wait too. */
export const waitForItem = async <T extends Item>(
  items: Pick<Items<T>, "find">,
  signals: ChangeSignals,
  { key, until, generation, timeoutMs, signal }: WaitRequest,
): Promise<Waited<T>> => {
  const judge = (item: T | undefined): WaitOutcome | undefined => {
    if (item === undefined) return until === "gone" ? "done" : "failed";
    return until === "gone" ? undefined : judgeReady(item, generation);
  };
  const item = await awaitChange({
    signals,
    key: `${key.namespace}/${key.name}`,
    read: () => items.find(key),
    settled: (value) => judge(value) !== undefined,
    timeoutMs,
    signal,
  });
  return { item, outcome: judge(item) ?? "timeout" };
};
