import { MAX_LINE_BYTES } from "../shared/log-frame.js";

export interface AssembledLine {
  readonly text: string;
  /** Bytes dropped from its end; 0 when it is whole. */
  readonly dropped: number;
}

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Cuts a stream of bytes into lines of bounded length: what a line has too much is counted, not kept. */
export class LineAssembler {
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #dropped = 0;

  constructor(private readonly onLine: (line: AssembledLine) => void) {}

  get isEmpty(): boolean {
    return this.#keptBytes === 0 && this.#dropped === 0;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      this.#keep(chunk.subarray(from, end));
      this.#emit();
      from = end + 1;
    }
    this.#keep(chunk.subarray(from));
  }

  /** Gives out what has come of a line that may never end. */
  flush(): void {
    if (!this.isEmpty) this.#emit();
  }

  #keep(piece: Buffer): void {
    const room = MAX_LINE_BYTES - this.#keptBytes;
    const kept = piece.subarray(0, room);
    this.#dropped += piece.length - kept.length;
    this.#keptBytes += kept.length;
    // Copied: a slice would keep the whole chunk alive.
    if (kept.length > 0) this.#kept.push(Buffer.from(kept));
  }

  #emit(): void {
    const bytes = Buffer.concat(this.#kept, this.#keptBytes);
    const end = bytes.at(-1) === CARRIAGE_RETURN ? -1 : undefined;
    this.onLine({ text: bytes.subarray(0, end).toString("utf8"), dropped: this.#dropped });
    this.#kept = [];
    this.#keptBytes = 0;
    this.#dropped = 0;
  }
}
