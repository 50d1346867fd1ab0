import { ClientGoneError, type ClientWatch } from "./client-watch.js";
import { Endpoint, endpointKey, type EndpointAddress } from "./endpoint.js";
import { makeNoInstanceFault, makeQueueFullFault, makeQueueTimeoutFault, type CallFault } from "./faults.js";

export interface PoolLimits {
  /** Calls that wait for one version before others are refused. */
  readonly maxQueued: number;
  /** Longest wait for a free instance. */
  readonly queueMs: number;
}

export interface WaitOptions {
  readonly concurrency: number;
  /** End of the wait, on the clock of `performance.now()`. */
  readonly until: number;
  /** A call that was refused has waited already: it goes to the head of the queue. */
  readonly first: boolean;
  readonly watch: ClientWatch;
}

interface Waiter {
  readonly concurrency: number;
  readonly resolve: (endpoint: Endpoint) => void;
}

/** The endpoints of one version and the calls that wait for one of them, first come first served. */
export class VersionPool {
  readonly #limits: PoolLimits;
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #waiters: Waiter[] = [];
  #wakeUp: NodeJS.Timeout | undefined;
  #turn = 0;
  #inFlight = 0;
  /** Endpoints as a list, since each call goes through them. */
  #list: readonly Endpoint[] = [];

  constructor(limits: PoolLimits) {
    this.#limits = limits;
  }

  get queued(): number {
    return this.#waiters.length;
  }

  /** Calls under way, those to pods that have left among them. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** True when nothing would be lost with it. */
  get isIdle(): boolean {
    return this.#list.length === 0 && this.#waiters.length === 0 && this.#inFlight === 0;
  }

  /** Takes over which pods there are. Those that are no longer named lose their sockets. */
  setEndpoints(addresses: readonly EndpointAddress[]): void {
    const named = new Map(addresses.map((address) => [endpointKey(address), address]));
    for (const [key, endpoint] of this.#endpoints) {
      if (named.has(key)) continue;
      endpoint.retire();
      this.#endpoints.delete(key);
    }
    for (const [key, address] of named) {
      const known = this.#endpoints.get(key);
      if (known === undefined) this.#endpoints.set(key, new Endpoint(address));
      else known.update(address);
    }
    this.#list = [...this.#endpoints.values()];
    this.#serveWaiters();
  }

  /** A place at an endpoint with room, if there is one and nobody waits who was here before. */
  tryTake(concurrency: number): Endpoint | undefined {
    return this.#waiters.length > 0 ? undefined : this.#reserve(concurrency);
  }

  /**
   * Waits for a place, or returns the fault that ends the call. Every place must be released exactly once.
   * @throws ClientGoneError when the client goes away first.
   */
  wait(options: WaitOptions): Promise<Endpoint | CallFault> {
    if (!options.first && this.#waiters.length >= this.#limits.maxQueued) {
      return Promise.resolve(makeQueueFullFault(this.#limits.maxQueued));
    }
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        options.watch.onGone = undefined;
        const at = this.#waiters.indexOf(waiter);
        if (at >= 0) this.#waiters.splice(at, 1);
      };
      const waiter: Waiter = {
        concurrency: options.concurrency,
        resolve: (endpoint) => {
          leave();
          resolve(endpoint);
        },
      };
      const onTimeout = (): void => {
        leave();
        resolve(this.#timeoutFault());
      };
      const timer = setTimeout(onTimeout, Math.max(0, options.until - performance.now()));
      options.watch.onGone = () => {
        leave();
        reject(new ClientGoneError());
      };
      if (options.first) this.#waiters.unshift(waiter);
      else this.#waiters.push(waiter);
      this.#serveWaiters();
    });
  }

  /** Gives a place back. */
  release(endpoint: Endpoint): void {
    endpoint.inFlight--;
    this.#inFlight--;
    if (this.#waiters.length > 0) this.#serveWaiters();
  }

  close(): void {
    clearTimeout(this.#wakeUp);
    for (const endpoint of this.#list) endpoint.retire();
  }

  #timeoutFault(): CallFault {
    const seconds = this.#limits.queueMs / 1000;
    return this.#list.length === 0 ? makeNoInstanceFault(seconds) : makeQueueTimeoutFault(seconds);
  }

  #serveWaiters(): void {
    for (let next = this.#waiters[0]; next !== undefined; next = this.#waiters[0]) {
      const endpoint = this.#reserve(next.concurrency);
      if (endpoint === undefined) return this.#wakeUpLater();
      next.resolve(endpoint);
    }
  }

  #reserve(concurrency: number): Endpoint | undefined {
    const endpoint = this.#pick(concurrency);
    if (endpoint === undefined) return undefined;
    endpoint.inFlight++;
    this.#inFlight++;
    return endpoint;
  }

  /** The endpoint with the fewest calls among those with room, a ready one if any; ties go round. */
  #pick(concurrency: number): Endpoint | undefined {
    const count = this.#list.length;
    let best: Endpoint | undefined;
    this.#turn = count === 0 ? 0 : (this.#turn + 1) % count;
    for (let step = 0; step < count; step++) {
      const endpoint = this.#list[(this.#turn + step) % count] as Endpoint;
      if (!endpoint.hasRoom(concurrency)) continue;
      if (best === undefined || isBetter(endpoint, best)) best = endpoint;
    }
    return best;
  }

  /** An endpoint that backs off has nobody to say when it may be tried again. */
  #wakeUpLater(): void {
    const soonest = Math.min(...this.#list.map(({ notBefore }) => (notBefore === 0 ? Infinity : notBefore)));
    if (this.#wakeUp !== undefined || soonest === Infinity) return;
    const delay = Math.max(1, soonest - performance.now());
    this.#wakeUp = setTimeout(() => {
      this.#wakeUp = undefined;
      this.#serveWaiters();
    }, delay);
  }
}

const isBetter = (candidate: Endpoint, best: Endpoint): boolean =>
  candidate.ready === best.ready ? candidate.inFlight < best.inFlight : candidate.ready;
