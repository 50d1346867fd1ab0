import { FAULT_STATUS, HEADER_FAULT, HEADER_RUN_MS, HEADER_VERSION_UID } from "../shared/protocol.js";
import { canWriteDirectly, writeDirectly } from "./direct-answer.js";
import { toChunk } from "./stream-source.js";
import type { ServerResponse } from "node:http";
import type { Fault, FaultBody } from "../shared/protocol.js";
import type { Answer } from "./answer.js";
import type { Call } from "./call.js";

/** An answer longer than this may fill the socket's buffer, so the table says "answering" before its first byte. */
const ONE_WRITE_BYTES = 32 * 1024;

const hasNoBody = (status: number): boolean => status === 204 || status === 304;

/** Short, with a body, and with a head of ASCII. */
const isUsual = ({ status, headers }: Answer, length: number): boolean =>
  length <= ONE_WRITE_BYTES && !hasNoBody(status) && !headers.beyondAscii;

/** Writes answers and faults of calls, and keeps the call table right about whether the head is out. */
export class AnswerWriter {
  constructor(private readonly versionUid: string) {}

  /** Sends an answer in one piece. */
  whole(call: Call, answer: Answer, body: string | Buffer): void {
    const { headers, status } = answer;
    headers.take("content-length");
    const flat = headers.flat();
    const length = typeof body === "string" ? Buffer.byteLength(body) : body.length;
    if (!hasNoBody(status)) flat.push("content-length", String(length));
    this.#pushPlatform(flat, call.runMs);
    if (isUsual(answer, length) && typeof body === "string" && canWriteDirectly(call.response)) {
      writeDirectly(call.response, { status, flat, body });
    } else {
      if (length > ONE_WRITE_BYTES) call.connection.record.answering();
      call.response.writeHead(status, flat);
      // Node writes head and text body as one UTF-8 string, which would encode header bytes beyond ASCII once more.
      const bytes = headers.beyondAscii && typeof body === "string" ? Buffer.from(body) : body;
      call.response.end(hasNoBody(status) ? undefined : bytes);
    }
    this.#settleRecord(call);
  }

  /**
   * Sends an answer piece by piece, no faster than the caller reads. The first piece is awaited before the head is
   * sent, so that a source which fails at once is still answered with a fault.
   *
   * @throws what the source throws; `call.phase` then tells whether the head was sent
   */
  async streamed(call: Call, answer: Answer, source: AsyncIterable<unknown>): Promise<void> {
    const pieces = source[Symbol.asyncIterator]();
    try {
      const declared = answer.headers.take("content-length");
      const first = await nextChunk(pieces);
      if (isOver(call)) return;
      this.#streamHead(call, answer, declared);
      const isHead = call.response.req.method === "HEAD";
      const sent = isHead ? undefined : await pipe(call, first, pieces);
      if (isOver(call)) return;
      if (sent !== undefined) checkLength(declared, sent);
      call.response.end();
      this.#settleRecord(call);
    } finally {
      // Lets generators run their `finally`, and destroys streams, when the caller has gone or a piece was wrong.
      if (pieces.return !== undefined) void Promise.resolve(pieces.return()).catch(() => undefined);
    }
  }

  /** Sends a fault in place of the handler's answer. */
  fault(call: Call, fault: Fault, body: FaultBody): void {
    this.refuse(call.response, fault, body, { close: false, runMs: call.runMs });
    this.#settleRecord(call);
  }

  /** Sends a fault on a response that belongs to no admitted call. */
  refuse(
    response: ServerResponse,
    fault: Fault,
    body: FaultBody,
    options: { readonly close: boolean; readonly runMs?: string | undefined },
  ): void {
    const text = JSON.stringify(body);
    const flat = ["content-type", "application/json", "content-length", String(Buffer.byteLength(text))];
    flat.push(HEADER_FAULT, fault);
    if (options.close) flat.push("connection", "close");
    this.#pushPlatform(flat, options.runMs);
    response.writeHead(FAULT_STATUS[fault], flat);
    response.end(text);
  }

  #streamHead(call: Call, answer: Answer, declared: string | undefined): void {
    const flat = answer.headers.flat();
    if (declared !== undefined) flat.push("content-length", declared);
    this.#pushPlatform(flat, call.runMs);
    call.connection.record.answering();
    call.phase = "answering";
    call.response.writeHead(answer.status, flat);
    call.response.flushHeaders();
  }

  #pushPlatform(flat: string[], runMs: string | undefined): void {
    flat.push(HEADER_VERSION_UID, this.versionUid);
    if (runMs !== undefined) flat.push(HEADER_RUN_MS, runMs);
  }

  /** The record goes back to idle when the last byte is in the kernel's hands, which mostly is at once. */
  #settleRecord(call: Call): void {
    const { record, socket } = call.connection;
    if (socket.writableLength === 0) {
      record.idle();
      return;
    }
    record.answering();
    call.response.once("finish", () => record.idle());
  }
}

const isOver = (call: Call): boolean => call.phase === "over";

type Chunk = string | Uint8Array;

/** Undefined at the end. */
const nextChunk = async (pieces: AsyncIterator<unknown>): Promise<Chunk | undefined> => {
  const piece = await pieces.next();
  return piece.done === true ? undefined : toChunk(piece.value);
};

/** Writes all pieces as fast as the caller reads, until the end or until the call is over; returns the bytes sent. */
const pipe = async (call: Call, first: Chunk | undefined, pieces: AsyncIterator<unknown>): Promise<number> => {
  let sent = 0;
  for (let chunk = first; chunk !== undefined && !isOver(call); chunk = await nextChunk(pieces)) {
    sent += typeof chunk === "string" ? Buffer.byteLength(chunk) : chunk.length;
    if (!call.response.write(chunk)) await drained(call.response);
  }
  return sent;
};

const drained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const settle = (): void => {
      response.off("drain", settle);
      response.off("close", settle);
      resolve();
    };
    response.on("drain", settle);
    response.on("close", settle);
  });

const checkLength = (declared: string | undefined, sent: number): void => {
  if (declared === undefined || Number(declared) === sent) return;
  throw new RangeError(`the handler declared a content-length of ${declared} and streamed ${String(sent)} bytes`);
};
