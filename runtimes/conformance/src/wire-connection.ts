import { connect } from "node:net";
import type { Socket } from "node:net";

/** A parsed HTTP/1.1 response. */
export interface Reply {
  readonly status: number;
  /** All values by lower-case name. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly body: Buffer;
}

/** The peer ended the connection before a response was complete: never to be taken for a response. */
export class ConnectionLost extends Error {
  override readonly name = "ConnectionLost";
}

const REPLY_TIMEOUT_MS = 15_000;

interface Head {
  readonly status: number;
  readonly headers: Record<string, string[]>;
  readonly bodyAt: number;
}

const parseHead = (bytes: Buffer): Head | undefined => {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [statusLine = "", ...lines] = bytes.toString("latin1", 0, end).split("\r\n");
  const headers = Object.create(null) as Record<string, string[]>;
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).toLowerCase();
    (headers[name] ??= []).push(line.slice(colon + 1).trim());
  }
  return { status: Number(statusLine.split(" ")[1]), headers, bodyAt: end + 4 };
};

interface Body {
  readonly body: Buffer;
  readonly end: number;
}

/** Undefined while the last chunk is not there. */
const parseChunked = (bytes: Buffer, from: number): Body | undefined => {
  const pieces: Buffer[] = [];
  for (let at = from; ;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd < 0) return undefined;
    const size = parseInt(bytes.toString("latin1", at, lineEnd), 16);
    const end = lineEnd + 2 + size;
    if (bytes.length < end + 2) return undefined;
    if (size === 0) return { body: Buffer.concat(pieces), end: end + 2 };
    pieces.push(bytes.subarray(lineEnd + 2, end));
    at = end + 2;
  }
};

const parseBody = (bytes: Buffer, head: Head, method: string): Body | undefined => {
  const hasNone = method === "HEAD" || head.status === 204 || head.status === 304;
  if (hasNone) return { body: Buffer.alloc(0), end: head.bodyAt };
  if (head.headers["transfer-encoding"]?.[0] === "chunked") return parseChunked(bytes, head.bodyAt);
  const end = head.bodyAt + Number(head.headers["content-length"]?.[0] ?? 0);
  return bytes.length < end ? undefined : { body: bytes.subarray(head.bodyAt, end), end };
};

/** One connection as a client of bytes: it shows what is on the wire, which a comfortable client would mend. */
export class WireConnection {
  #received: Buffer = Buffer.alloc(0);
  #ended = false;
  readonly #waiting = new Set<() => void>();

  private constructor(private readonly socket: Socket) {
    socket.on("data", (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    const end = (): void => {
      this.#ended = true;
      this.#wake();
    };
    socket.on("end", end).on("close", end).on("error", end);
  }

  static open(host: string, port: number): Promise<WireConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port, noDelay: true }, () => {
        socket.off("error", reject);
        resolve(new WireConnection(socket));
      });
      socket.once("error", reject);
    });
  }

  /** Whether the peer has ended it. */
  get isEnded(): boolean {
    return this.#ended;
  }

  /** All bytes received and not yet taken as a reply. */
  get received(): Buffer {
    return this.#received;
  }

  write(bytes: string | Buffer): void {
    this.socket.write(bytes);
  }

  /**
   * Waits for the next response.
   *
   * @param method of the request that it answers, since it decides whether a body follows
   * @throws ConnectionLost when the connection ends first
   */
  async reply(method = "GET"): Promise<Reply> {
    return await this.until(() => this.#takeReply(method), "a response");
  }

  /** Waits until the peer has ended the connection. */
  async ended(): Promise<void> {
    await this.until(() => this.#ended || undefined, "the end of the connection");
  }

  /**
   * Waits for what the received bytes show.
   *
   * @throws ConnectionLost when the connection ends first; Error after 15 s
   */
  async until<T>(look: () => T | undefined, what: string): Promise<T> {
    const giveUpAt = Date.now() + REPLY_TIMEOUT_MS;
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      if (this.#ended) throw new ConnectionLost(`the connection ended before ${what}`);
      if (Date.now() > giveUpAt) throw new Error(`no sign of ${what} within ${String(REPLY_TIMEOUT_MS)} ms`);
      await this.#change(giveUpAt - Date.now());
    }
  }

  /** Ends the connection from this side, at once. */
  close(): void {
    this.socket.destroy();
  }

  #takeReply(method: string): Reply | undefined {
    const head = parseHead(this.#received);
    if (head === undefined) return undefined;
    if (head.status === 100) {
      this.#received = this.#received.subarray(head.bodyAt);
      return { status: 100, headers: head.headers, body: Buffer.alloc(0) };
    }
    const parsed = parseBody(this.#received, head, method);
    if (parsed === undefined) return undefined;
    this.#received = this.#received.subarray(parsed.end);
    return { status: head.status, headers: head.headers, body: parsed.body };
  }

  #change(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const settle = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(settle);
        resolve();
      };
      const timer = setTimeout(settle, Math.max(1, timeoutMs + 1));
      this.#waiting.add(settle);
    });
  }

  #wake(): void {
    for (const settle of this.#waiting) settle();
  }
}
