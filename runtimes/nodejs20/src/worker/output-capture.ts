import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { LOG_PIPE_FD } from "../shared/protocol.js";
import { encodeFrame, MAX_FRAME_TEXT_BYTES, MAX_LINE_BYTES } from "../shared/log-frame.js";
import type { Level, OutputStream } from "../shared/log-frame.js";

/** Names the call that the running code belongs to; empty when it belongs to none. */
export type CurrentRequestId = () => string;

const writeSync = fs.writeSync;

/** What a console method was called as, while it runs. */
let consoleLevel: Level | undefined;

const writeFrames = (stream: OutputStream, text: Buffer, requestId: string): void => {
  const whole = consoleLevel !== undefined;
  if (whole) {
    const line = text.at(-1) === 0x0a ? text.subarray(0, -1) : text;
    const kept = line.subarray(0, MAX_LINE_BYTES);
    sendFrame(
      encodeFrame({ stream, level: consoleLevel, whole, requestId, text: kept, dropped: line.length - kept.length }),
    );
    return;
  }
  for (let at = 0; at < text.length; at += MAX_FRAME_TEXT_BYTES) {
    const piece = text.subarray(at, at + MAX_FRAME_TEXT_BYTES);
    sendFrame(encodeFrame({ stream, level: undefined, whole, requestId, text: piece, dropped: 0 }));
  }
};

/** Blocks when the pipe is full, so that a function which floods its log slows itself down and loses nothing at exit. */
const sendFrame = (frame: Buffer): void => {
  try {
    for (let at = 0; at < frame.length;) at += writeSync(LOG_PIPE_FD, frame, at);
  } catch {
    // The supervisor has gone or has given up on the pipe: there is nobody to tell.
  }
};

const toBuffer = (chunk: unknown, encoding: unknown): Buffer =>
  typeof chunk === "string"
    ? Buffer.from(chunk, typeof encoding === "string" ? (encoding as BufferEncoding) : "utf8")
    : Buffer.from(chunk as Uint8Array);

const captureStream = (stream: OutputStream, current: CurrentRequestId): void => {
  const write = (chunk: unknown, encoding?: unknown, callback?: unknown): boolean => {
    writeFrames(stream, toBuffer(chunk, encoding), current());
    const done = typeof encoding === "function" ? encoding : callback;
    if (typeof done === "function") process.nextTick(done);
    return true;
  };
  process[stream].write = write;
};

const captureConsole = (): void => {
  const levels = { debug: "debug", log: "info", info: "info", warn: "warn", error: "error", trace: "error" } as const;
  for (const [method, level] of Object.entries(levels) as [keyof typeof levels, Level][]) {
    // eslint-disable-next-line no-console -- the console is what is being captured
    const original = console[method].bind(console);
    // eslint-disable-next-line no-console -- the console is what is being captured
    console[method] = (...values: unknown[]): void => {
      consoleLevel = level;
      try {
        original(...values);
      } finally {
        consoleLevel = undefined;
      }
    };
  }
};

const STREAM_OF_FD = new Map<unknown, OutputStream>([
  [1, "stdout"],
  [2, "stderr"],
]);

/** Loggers such as pino write to descriptors 1 and 2 themselves; whole buffers and strings go the attributed way too. */
const captureDescriptors = (current: CurrentRequestId): void => {
  const original = fs.writeSync as (...parameters: unknown[]) => number;
  const patched = (fd: unknown, data: unknown, ...rest: unknown[]): number => {
    const stream = STREAM_OF_FD.get(fd);
    const isWhole = typeof data === "string" || rest.length === 0;
    if (stream === undefined || !isWhole) return original(fd, data, ...rest);
    const text = toBuffer(data, rest[1]);
    writeFrames(stream, text, current());
    return text.length;
  };
  fs.writeSync = patched;
  syncBuiltinESMExports();
};

/** Routes what the function prints through the log pipe, each piece with the request that printed it. */
export const captureOutput = (current: CurrentRequestId): void => {
  captureStream("stdout", current);
  captureStream("stderr", current);
  captureConsole();
  captureDescriptors(current);
};
