import { FrameDecoder } from "../shared/log-frame.js";
import { LineAssembler } from "./line-assembler.js";
import type { LogFrame, OutputStream } from "../shared/log-frame.js";
import type { LogSink } from "./log-sink.js";
import type { WorkerOutput } from "./worker-process.js";

/** A piece of a line that nothing has followed for this long is a line (a prompt, a progress bar). */
const FLUSH_AFTER_MS = 500;
/** Unfinished lines kept apart at once; the oldest is given out when there are more. */
const MAX_UNFINISHED = 256;

/** Turns all that one worker prints into log lines with the request that they belong to. */
export class OutputCollector {
  readonly #unfinished = new Map<string, LineAssembler>();
  readonly #frames = new FrameDecoder();
  #flushTimer: NodeJS.Timeout | undefined;

  /**
   * @param onlyRequestId the request of the one call in progress, or "" when there is none or are several: descriptors
   *   1 and 2 are written by native code and child processes, which name no call
   */
  constructor(
    private readonly sink: LogSink,
    private readonly onlyRequestId: () => string,
  ) {}

  collect(output: WorkerOutput): void {
    for (const stream of ["stdout", "stderr"] as const) {
      output[stream].on("data", (chunk: Buffer) => this.#pieces(stream, this.onlyRequestId(), chunk));
      output[stream].on("error", () => undefined);
    }
    output.frames.on("data", (chunk: Buffer) => this.#onFrames(output, chunk));
    output.frames.on("error", () => undefined);
    output.frames.on("close", () => this.flush());
  }

  flush(): void {
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    for (const assembler of this.#unfinished.values()) assembler.flush();
    this.#unfinished.clear();
  }

  #onFrames(output: WorkerOutput, chunk: Buffer): void {
    try {
      for (const frame of this.#frames.push(chunk)) this.#onFrame(frame);
    } catch (error) {
      output.frames.destroy();
      this.sink.platform("warn", `attributed output is lost from here on: ${String(error)}`);
    }
  }

  #onFrame({ stream, requestId, text, level, whole, dropped }: LogFrame): void {
    if (!whole) {
      this.#pieces(stream, requestId, text);
      return;
    }
    this.#unfinished.get(`${stream} ${requestId}`)?.flush();
    this.sink.write({ stream, requestId, level, message: text.toString("utf8"), truncated: dropped || undefined });
  }

  #pieces(stream: OutputStream, requestId: string, chunk: Buffer): void {
    const key = `${stream} ${requestId}`;
    const assembler = this.#unfinished.get(key) ?? this.#assembler(stream, requestId);
    this.#unfinished.delete(key);
    assembler.push(chunk);
    if (assembler.isEmpty) return;
    this.#unfinished.set(key, assembler);
    if (this.#unfinished.size > MAX_UNFINISHED) this.#flushOldest();
    this.#flushTimer ??= setTimeout(() => this.flush(), FLUSH_AFTER_MS);
  }

  #assembler(stream: OutputStream, requestId: string): LineAssembler {
    return new LineAssembler(({ text, dropped }) => {
      this.sink.write({ stream, requestId, message: text, truncated: dropped || undefined });
    });
  }

  #flushOldest(): void {
    const [oldest] = this.#unfinished;
    if (oldest === undefined) return;
    oldest[1].flush();
    this.#unfinished.delete(oldest[0]);
  }
}
