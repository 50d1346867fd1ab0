import { expired } from "./api-status-error.js";
import type { KubeObject } from "./types.js";

/** One write: `before` and `after` are what it found and left (neither both absent). */
export interface Change {
  readonly version: number;
  readonly typeKey: string;
  readonly before: KubeObject | undefined;
  /** Absent after a deletion. */
  readonly after: KubeObject | undefined;
  /** Of a deletion: the last state, carrying the deletion's own resourceVersion. */
  readonly tombstone?: KubeObject;
  readonly bytes: number;
}

const MAX_CHANGES = 10_000;
const MAX_BYTES = 32 * 1024 * 1024;

/** The latest changes, bounded by count and bytes, for watches that resume and for pages of an older list. */
export class EventHistory {
  #changes: Change[] = [];
  #bytes = 0;
  /** Changes after this version are all here. */
  #oldest: number;

  constructor(startVersion: number) {
    this.#oldest = startVersion;
  }

  add(change: Change): void {
    this.#changes.push(change);
    this.#bytes += change.bytes;
    if (this.#changes.length > MAX_CHANGES || this.#bytes > MAX_BYTES) this.#trim();
  }

  /** Halves the history, so that trimming costs little per change. */
  #trim(): void {
    const dropped = this.#changes.splice(0, Math.ceil(this.#changes.length / 2));
    for (const change of dropped) this.#bytes -= change.bytes;
    this.#oldest = dropped.at(-1)?.version ?? this.#oldest;
  }

  /** The changes after a version, oldest first; 410 Expired when some of them are no longer kept. */
  since(version: number): Change[] {
    if (version < this.#oldest) throw expired(version, this.#oldest);
    let low = 0;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#changes[middle]?.version ?? Infinity) <= version) low = middle + 1;
      else high = middle;
    }
    return this.#changes.slice(low);
  }
}
