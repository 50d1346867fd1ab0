import { monotonicMs } from "../shared/monotonic-clock.js";

// The function's code may replace the global timers (fake timers of a test library): ours are taken before it loads.
const { setTimeout, clearTimeout } = globalThis;

export interface HasDeadline {
  /** Monotonic milliseconds. */
  readonly deadline: number;
}

/**
 * Calls back for each watched entry whose deadline has come. One timer serves all: a call costs a comparison, not a
 * timer of its own, since nearly every call ends long before its deadline.
 */
export class DeadlineTimer<T extends HasDeadline> {
  #timer: NodeJS.Timeout | undefined;
  #armedFor = Infinity;

  /**
   * @param entries the live set; whoever leaves it is no longer watched
   * @param onExpired must take the entry out of the set
   */
  constructor(
    private readonly entries: ReadonlySet<T>,
    private readonly onExpired: (entry: T) => void,
  ) {}

  watch(entry: T): void {
    if (entry.deadline < this.#armedFor) this.#arm(entry.deadline);
  }

  #arm(deadline: number): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.#armedFor = deadline;
    this.#timer = setTimeout(() => this.#fire(), Math.max(1, Math.ceil(deadline - monotonicMs())));
  }

  #fire(): void {
    this.#armedFor = Infinity;
    const now = monotonicMs();
    let next = Infinity;
    for (const entry of [...this.entries]) {
      if (entry.deadline <= now) this.onExpired(entry);
      else next = Math.min(next, entry.deadline);
    }
    if (next !== Infinity) this.#arm(next);
  }
}
