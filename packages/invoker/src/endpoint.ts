import { Client } from "undici";

/** One pod of a version, as an EndpointSlice tells of it. */
export interface EndpointAddress {
  readonly podUid: string;
  readonly address: string;
  readonly port: number;
  /** Passed its readiness probe. One that has not is still tried when no ready one has room. */
  readonly ready: boolean;
  /** Is going: takes no new calls, finishes those it has. */
  readonly terminating: boolean;
}

/** Identity of a pod at an address. When one of them changes it is another endpoint, with sockets of its own. */
export const endpointKey = ({ podUid, address, port }: EndpointAddress): string => `${podUid}/${address}:${port}`;

const CONNECT_TIMEOUT_MS = 2_000;
/**
 * Idle sockets close here before the runtime closes them there, so that a call never meets a socket that the other side
 * has just closed (R36). A runtime that announces its own time by `Keep-Alive` is believed, less undici's margin.
 */
const IDLE_SOCKET_MS = 4_000;
/** Status line and headers of an answer together. */
export const MAX_ANSWER_HEAD_BYTES = 64 * 1024;
/** Waits after a refusal or a failed connect: short at first, since a starting pod should answer at once. */
const FIRST_BACKOFF_MS = 10;
const MAX_BACKOFF_MS = 500;

/**
 * A pod and the sockets to it. Each socket is an undici Client that carries one call at a time: no pipelining, so one
 * call can't hold up another, and the last used is used first, so that superfluous ones go idle and close.
 */
export class Endpoint {
  readonly key: string;
  ready: boolean;
  /** Calls that hold a place here; the pool counts them. */
  inFlight = 0;
  readonly #origin: string;
  readonly #idle: Client[] = [];
  #accepting: boolean;
  #retired = false;
  #notBefore = 0;
  #backoffMs = FIRST_BACKOFF_MS;

  constructor(address: EndpointAddress) {
    this.key = endpointKey(address);
    this.ready = address.ready;
    this.#accepting = !address.terminating;
    const host = address.address.includes(":") ? `[${address.address}]` : address.address;
    this.#origin = `http://${host}:${address.port}`;
  }

  /** Takes over what a newer EndpointSlice says of the same pod. */
  update(address: EndpointAddress): void {
    if (address.ready && !this.ready) this.#notBefore = 0;
    this.ready = address.ready;
    if (address.terminating) this.stopAccepting();
  }

  /** When the next call may be tried here, on the clock of `performance.now()`. 0: now. */
  get notBefore(): number {
    return this.#accepting ? this.#notBefore : Infinity;
  }

  hasRoom(concurrency: number): boolean {
    if (!this.#accepting || this.inFlight >= concurrency) return false;
    return this.#notBefore === 0 || this.#notBefore <= performance.now();
  }

  /** A socket for one call, the one that was used last. */
  takeClient(): Client {
    return this.#idle.pop() ?? this.#connect();
  }

  giveClient(client: Client): void {
    if (this.#retired) void client.destroy();
    else this.#idle.push(client);
  }

  /** It answered: what was wrong before is over. */
  markAnswered(): void {
    this.#notBefore = 0;
    this.#backoffMs = FIRST_BACKOFF_MS;
  }

  /** Leaves it alone for a while that grows with each refusal. */
  backOff(): void {
    this.#notBefore = performance.now() + this.#backoffMs;
    this.#backoffMs = Math.min(this.#backoffMs * 2, MAX_BACKOFF_MS);
  }

  /** No new calls any more, until another pod takes its place. */
  stopAccepting(): void {
    this.#accepting = false;
  }

  /** Its pod has left: sockets die with it (security 18). Those in use close when their call ends. */
  retire(): void {
    this.#accepting = false;
    this.#retired = true;
    for (const client of this.#idle.splice(0)) void client.destroy();
  }

  #connect(): Client {
    return new Client(this.#origin, {
      connect: { timeout: CONNECT_TIMEOUT_MS },
      keepAliveTimeout: IDLE_SOCKET_MS,
      maxHeaderSize: MAX_ANSWER_HEAD_BYTES,
      // The call's own deadline bounds both.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }
}
