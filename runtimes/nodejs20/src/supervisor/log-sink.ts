import { createWriteStream } from "node:fs";
import type { WriteStream } from "node:fs";
import type { Level, OutputStream } from "../shared/log-frame.js";

export interface LogLine {
  readonly stream: OutputStream | "platform";
  readonly message: string;
  readonly requestId?: string | undefined;
  readonly level?: Level | undefined;
  /** Bytes that were cut off. */
  readonly truncated?: number | undefined;
}

/** What a function may print: this many lines and bytes a second, and a burst of as much as fits four seconds. */
const LINES_PER_SECOND = 1_000;
const BYTES_PER_SECOND = 1024 * 1024;
const BURST_SECONDS = 4;
/** Lines are dropped beyond this many bytes that nobody reads from our own stdout. */
const MAX_UNREAD_BYTES = 8 * 1024 * 1024;
const MARK_INTERVAL_MS = 1_000;

/** A token bucket in lines and bytes. */
class LogBudget {
  #lines = LINES_PER_SECOND * BURST_SECONDS;
  #bytes = BYTES_PER_SECOND * BURST_SECONDS;
  #filled = Date.now();

  take(bytes: number): boolean {
    const now = Date.now();
    const seconds = Math.max(0, now - this.#filled) / 1000;
    this.#filled = now;
    this.#lines = Math.min(LINES_PER_SECOND * BURST_SECONDS, this.#lines + seconds * LINES_PER_SECOND);
    this.#bytes = Math.min(BYTES_PER_SECOND * BURST_SECONDS, this.#bytes + seconds * BYTES_PER_SECOND);
    if (this.#lines < 1 || this.#bytes < bytes) return false;
    this.#lines -= 1;
    this.#bytes -= bytes;
    return true;
  }
}

/** Writes one JSON object a line to the supervisor's stdout; the only thing that does. */
export class LogSink {
  readonly #budget = new LogBudget();
  // Not process.stdout, whose writes to a pipe block: a reader that stalls must not stall deadlines.
  readonly #out: WriteStream;
  #dropped = 0;
  #markTimer: NodeJS.Timeout | undefined;

  constructor(fd: number) {
    this.#out = createWriteStream("", { fd, autoClose: false });
    this.#out.on("error", () => undefined);
  }

  /** Writes a line of the function's output, within its budget. */
  write(line: LogLine): void {
    const text = this.#format(line);
    if (this.#out.writableLength <= MAX_UNREAD_BYTES && this.#budget.take(text.length)) {
      this.#out.write(text);
      return;
    }
    this.#dropped++;
    this.#markTimer ??= setTimeout(() => this.#markDropped(), MARK_INTERVAL_MS);
  }

  /** Writes a line of the platform, outside of the function's budget. */
  platform(level: Level, message: string, requestId?: string): void {
    this.#out.write(this.#format({ stream: "platform", level, message, requestId }));
  }

  /** Resolves when all is written, or after the given milliseconds. */
  async flush(timeoutMs: number): Promise<void> {
    if (this.#dropped > 0) this.#markDropped();
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#out.write("", () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #markDropped(): void {
    clearTimeout(this.#markTimer);
    this.#markTimer = undefined;
    const count = this.#dropped;
    this.#dropped = 0;
    const limit = `${String(LINES_PER_SECOND)} lines or ${String(BYTES_PER_SECOND)} bytes a second`;
    this.platform("warn", `${String(count)} log lines were dropped: more than ${limit}`);
  }

  #format({ stream, level, message, requestId, truncated }: LogLine): string {
    const id = requestId === "" ? undefined : requestId;
    return `${JSON.stringify({ time: new Date().toISOString(), requestId: id, stream, level, message, truncated })}\n`;
  }
}
