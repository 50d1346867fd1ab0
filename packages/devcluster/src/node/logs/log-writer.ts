import { mkdirSync } from "node:fs";
import { open, rename, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";

export type LogStream = "stdout" | "stderr";

export interface LogLine {
  time: string;
  stream: LogStream;
  text: Buffer;
}

export interface LogFollower {
  onLine(line: LogLine): void;
  onClose(): void;
}

/** The log of one run of one container, in the line format of the Kubernetes container runtime interface. */
export interface LogWriter {
  readonly file: string;
  /** Resolves when the bytes are with the kernel: await it before reading more, and a fast writer is slowed down. */
  append(stream: LogStream, chunk: Buffer): Promise<void>;
  /** Writes out what has no line end yet and closes the file. */
  close(): Promise<void>;
  readonly closed: boolean;
  /**
   * Runs `readStored` while nothing is written, then calls the listener for each line after it: no line is missed or
   * met twice.
   */
  follow<T>(readStored: () => Promise<T>, follower: LogFollower): Promise<{ stored: T; unfollow: () => void }>;
}

export interface LogLimits {
  /** The file is moved to `<file>.1` at this size; the one before goes. */
  maxBytes: number;
  maxLineBytes: number;
}

const NEWLINE = 0x0a;
export const DEFAULT_LOG_LIMITS: LogLimits = { maxBytes: 10 * 1024 * 1024, maxLineBytes: 16 * 1024 };

/** Cuts a stream of bytes into lines; what exceeds the longest line is cut there. */
const createLineCutter = (maxLineBytes: number) => {
  let rest: Buffer = Buffer.alloc(0);
  return {
    push(chunk: Buffer): Buffer[] {
      rest = rest.length ? Buffer.concat([rest, chunk]) : chunk;
      const lines: Buffer[] = [];
      let start = 0;
      while (start < rest.length) {
        const end = rest.indexOf(NEWLINE, start);
        const within = end >= 0 && end - start <= maxLineBytes;
        if (!within && rest.length - start <= maxLineBytes) break;
        const stop = within ? end : start + maxLineBytes;
        lines.push(rest.subarray(start, stop));
        start = within ? stop + 1 : stop;
      }
      rest = rest.subarray(start);
      return lines;
    },
    flush(): Buffer[] {
      const last = rest;
      rest = Buffer.alloc(0);
      return last.length ? [last] : [];
    },
  };
};

export const formatLine = ({ time, stream, text }: LogLine): Buffer =>
  Buffer.concat([Buffer.from(`${time} ${stream} F `), text, Buffer.from("\n")]);

/** @param file is made with its folder at the first line */
export const createLogWriter = (file: string, limits: LogLimits = DEFAULT_LOG_LIMITS): LogWriter => {
  const cutters = { stdout: createLineCutter(limits.maxLineBytes), stderr: createLineCutter(limits.maxLineBytes) };
  const followers = new Set<LogFollower>();
  let handle: FileHandle | undefined;
  let bytes = 0;
  let pending: Promise<void> = Promise.resolve();
  let closed = false;

  const rotate = async (): Promise<void> => {
    await handle?.close();
    await rename(file, `${file}.1`);
    handle = await open(file, "a", 0o600);
    bytes = 0;
  };
  const write = async (lines: LogLine[]): Promise<void> => {
    if (!handle) {
      mkdirSync(dirname(file), { recursive: true });
      handle = await open(file, "a", 0o600);
    }
    const data = Buffer.concat(lines.map(formatLine));
    if (bytes > 0 && bytes + data.length > limits.maxBytes) await rotate();
    await handle.write(data);
    bytes += data.length;
    for (const line of lines) for (const follower of followers) follower.onLine(line);
  };
  const enqueue = (stream: LogStream, texts: Buffer[]): Promise<void> => {
    if (texts.length === 0) return pending;
    const time = new Date().toISOString();
    const lines = texts.map((text) => ({ time, stream, text }));
    // A write that failed (a full disk) is told to whoever waits for it; the next one tries anew.
    pending = pending.catch(() => undefined).then(() => write(lines));
    return pending;
  };

  return {
    file,
    get closed() {
      return closed;
    },
    append: (stream, chunk) => enqueue(stream, cutters[stream].push(chunk)),
    async close() {
      closed = true;
      await enqueue("stdout", cutters.stdout.flush());
      await enqueue("stderr", cutters.stderr.flush());
      await handle?.close();
      handle = undefined;
      for (const follower of followers) follower.onClose();
      followers.clear();
    },
    async follow(readStored, follower) {
      const reading = pending.then(async () => {
        const stored = await readStored();
        if (closed) follower.onClose();
        else followers.add(follower);
        return stored;
      });
      pending = reading.then(
        () => undefined,
        () => undefined,
      );
      const stored = await reading;
      return { stored, unfollow: () => void followers.delete(follower) };
    },
  };
};
