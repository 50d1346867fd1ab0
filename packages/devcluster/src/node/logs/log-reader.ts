import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import type { LogLine, LogStream, LogWriter } from "./log-writer.js";

/** As `kubectl logs` asks, and the query of the pod's log subresource. */
export interface LogOptions {
  follow?: boolean;
  tailLines?: number;
  /** RFC 3339; older lines are left out. */
  sinceTime?: string;
  timestamps?: boolean;
  limitBytes?: number;
  /** Ends a follow. */
  signal?: AbortSignal;
}

const MAX_TAIL = 1_000_000;
/** What a follower that does not read may hold up in memory before lines are dropped. */
const MAX_BEHIND_BYTES = 4 * 1024 * 1024;

const parseLine = (line: string): LogLine | undefined => {
  const match = /^(\S+) (stdout|stderr) F /.exec(line);
  if (!match) return undefined;
  const [head, time = "", stream] = match;
  return { time, stream: stream as LogStream, text: Buffer.from(line.slice(head.length), "latin1") };
};

async function* readFileLines(file: string): AsyncGenerator<LogLine> {
  // latin1 keeps every byte as it is: what a function prints need not be UTF-8.
  const input = createReadStream(file, { encoding: "latin1" });
  try {
    await new Promise((resolve, reject) => input.once("open", resolve).once("error", reject));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  for await (const raw of createInterface({ input, crlfDelay: 0 })) {
    const line = parseLine(raw);
    if (line) yield line;
  }
}

const readStored = async (file: string, { tailLines, sinceTime }: LogOptions): Promise<LogLine[]> => {
  const since = sinceTime ? Date.parse(sinceTime) : -Infinity;
  const keep = Math.min(tailLines ?? MAX_TAIL, MAX_TAIL);
  let lines: LogLine[] = [];
  for (const part of [`${file}.1`, file]) {
    for await (const line of readFileLines(part)) {
      if (Date.parse(line.time) < since) continue;
      lines.push(line);
      if (lines.length > 2 * keep + 1024) lines = lines.slice(-keep);
    }
  }
  return keep === 0 ? [] : lines.slice(-keep);
};

/** Lines that arrive while the reader is busy, bounded: a reader that sleeps loses the oldest and is told so. */
const createBacklog = () => {
  const lines: LogLine[] = [];
  let bytes = 0;
  let dropped = 0;
  return {
    push(line: LogLine): void {
      lines.push(line);
      bytes += line.text.length;
      while (bytes > MAX_BEHIND_BYTES && lines.length > 1) {
        bytes -= lines.shift()?.text.length ?? 0;
        dropped += 1;
      }
    },
    take(): LogLine[] {
      const notice = dropped > 0 ? [dropNotice(dropped)] : [];
      dropped = 0;
      bytes = 0;
      return [...notice, ...lines.splice(0)];
    },
  };
};

const dropNotice = (count: number): LogLine => ({
  time: new Date().toISOString(),
  stream: "stderr",
  text: Buffer.from(`[${count} lines dropped: they came faster than they were read]`),
});

async function* followLines(writer: LogWriter, options: LogOptions): AsyncGenerator<LogLine> {
  const backlog = createBacklog();
  let ended = false;
  let wake: () => void = () => undefined;
  const end = (): void => {
    ended = true;
    wake();
  };
  const onLine = (line: LogLine): void => {
    backlog.push(line);
    wake();
  };
  const { stored, unfollow } = await writer.follow(() => readStored(writer.file, options), { onLine, onClose: end });
  options.signal?.addEventListener("abort", end, { once: true });
  if (options.signal?.aborted) end();
  try {
    yield* stored;
    for (;;) {
      const lines = backlog.take();
      yield* lines;
      if (lines.length === 0 && ended) return;
      if (lines.length === 0) await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    options.signal?.removeEventListener("abort", end);
    unfollow();
  }
}

const render = ({ time, text }: LogLine, timestamps: boolean): Buffer =>
  Buffer.concat([Buffer.from(timestamps ? `${time} ` : ""), text, Buffer.from("\n")]);

/**
 * The lines of a log as bytes, oldest first.
 * @param source the writer of a log that still grows, or the file of one that has ended
 */
export async function* readLogs(source: LogWriter | string, options: LogOptions = {}): AsyncGenerator<Buffer> {
  const file = typeof source === "string" ? source : source.file;
  const grows = typeof source !== "string" && options.follow === true;
  const lines = grows ? followLines(source, options) : await readStored(file, options);
  let left = options.limitBytes ?? Infinity;
  for await (const line of lines) {
    const bytes = render(line, options.timestamps === true).subarray(0, left);
    left -= bytes.length;
    if (bytes.length > 0) yield bytes;
    if (left <= 0) return;
  }
}
