/** How captured output travels from worker to supervisor: a fixed header, the request's id, the text. */

export const STREAMS = ["stdout", "stderr"] as const;
export type OutputStream = (typeof STREAMS)[number];

export const LEVELS = [undefined, "debug", "info", "warn", "error"] as const;
export type Level = "debug" | "info" | "warn" | "error";

export const FRAME_HEADER_BYTES = 12;
/** Longest text of one frame; the worker splits what is longer, the supervisor gives up on a pipe that claims more. */
export const MAX_FRAME_TEXT_BYTES = 256 * 1024;
/** Longest log line; the rest is dropped and counted. */
export const MAX_LINE_BYTES = 16 * 1024;

export interface LogFrame {
  readonly stream: OutputStream;
  readonly level: Level | undefined;
  /** A whole record, line breaks included; otherwise a piece of a stream that is cut into lines. */
  readonly whole: boolean;
  /** Empty when the output belongs to no call. */
  readonly requestId: string;
  readonly text: Buffer;
  /** Bytes of the text that were cut off already. */
  readonly dropped: number;
}

export const encodeFrame = (frame: LogFrame): Buffer => {
  const id = Buffer.from(frame.requestId, "latin1").subarray(0, 255);
  const bytes = Buffer.allocUnsafe(FRAME_HEADER_BYTES + id.length + frame.text.length);
  bytes[0] = STREAMS.indexOf(frame.stream);
  bytes[1] = LEVELS.indexOf(frame.level);
  bytes[2] = frame.whole ? 1 : 0;
  bytes[3] = id.length;
  bytes.writeUInt32LE(frame.text.length, 4);
  bytes.writeUInt32LE(frame.dropped, 8);
  id.copy(bytes, FRAME_HEADER_BYTES);
  frame.text.copy(bytes, FRAME_HEADER_BYTES + id.length);
  return bytes;
};

/** Cuts a byte stream back into frames. */
export class FrameDecoder {
  #pending: Buffer = Buffer.alloc(0);

  /** @throws RangeError when the stream is not one of frames: code of the function wrote into the pipe itself. */
  *push(chunk: Buffer): Generator<LogFrame> {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    while (this.#pending.length >= FRAME_HEADER_BYTES) {
      const idLength = this.#pending[3] ?? 0;
      const textLength = this.#pending.readUInt32LE(4);
      const stream = STREAMS[this.#pending[0] ?? 0];
      if (stream === undefined || textLength > MAX_FRAME_TEXT_BYTES) throw new RangeError("not a log frame");
      const end = FRAME_HEADER_BYTES + idLength + textLength;
      if (this.#pending.length < end) return;
      yield {
        stream,
        level: LEVELS[this.#pending[1] ?? 0],
        whole: this.#pending[2] === 1,
        requestId: this.#pending.toString("latin1", FRAME_HEADER_BYTES, FRAME_HEADER_BYTES + idLength),
        text: this.#pending.subarray(FRAME_HEADER_BYTES + idLength, end),
        dropped: this.#pending.readUInt32LE(8),
      };
      this.#pending = this.#pending.subarray(end);
    }
  }
}
