import { LayerPoolBusy } from "./errors.js";

/**
 * A bounded queue that serves its keys in turn: a key with a hundred items waits behind a key with one. Bounded per
 * key below the whole, so that one tenant can't fill it for the others (security 9).
 */
export class FairQueue<T> {
  /** Insertion order is the turn: a served key goes to the back. */
  private readonly waiting = new Map<string, T[]>();
  private size = 0;

  constructor(private readonly bounds: { total: number; perKey: number }) {}

  /** @throws LayerPoolBusy */
  push(key: string, item: T): void {
    const items = this.waiting.get(key);
    if ((items?.length ?? 0) >= this.bounds.perKey) throw new LayerPoolBusy("tenant");
    if (this.size >= this.bounds.total) throw new LayerPoolBusy("pool");
    if (items) items.push(item);
    else this.waiting.set(key, [item]);
    this.size++;
  }

  /** Takes the next item of the first key in turn that may run now. */
  take(mayRun: (key: string) => boolean): { key: string; item: T } | undefined {
    for (const [key, items] of this.waiting) {
      if (!mayRun(key)) continue;
      const item = items.shift();
      this.waiting.delete(key);
      if (item === undefined) continue;
      this.size--;
      if (items.length > 0) this.waiting.set(key, items);
      return { key, item };
    }
    return undefined;
  }

  /** Removes an item that its owner no longer wants. @returns whether it was still waiting */
  remove(key: string, item: T): boolean {
    const items = this.waiting.get(key);
    const index = items?.indexOf(item) ?? -1;
    if (!items || index < 0) return false;
    items.splice(index, 1);
    if (items.length === 0) this.waiting.delete(key);
    this.size--;
    return true;
  }
}
