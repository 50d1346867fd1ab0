import { createServer } from "node:net";
import { existsSync } from "node:fs";
import { monotonicMs } from "../shared/monotonic-clock.js";
import { Connections } from "./connections.js";
import { privateMemory, workerMemoryLimit } from "./memory.js";
import { OutputCollector } from "./output-collector.js";
import { Watchdog } from "./watchdog.js";
import { describeEnd, faultOfDeath } from "./worker-death.js";
import { WorkerProcess } from "./worker-process.js";
import type { Server } from "node:net";
import type { ToSupervisor } from "../shared/protocol.js";
import type { SupervisorConfig } from "./config.js";
import type { ControlActions, ControlState, NotReady } from "./control-server.js";
import type { LogSink } from "./log-sink.js";
import type { FatalReason } from "./termination-log.js";
import type { WorkerDeath } from "./worker-death.js";

/** A worker that dies idle this often in a row will not do better: the pod ends, and its restarts back off. */
const MAX_IDLE_DEATHS = 5;
const IDLE_DEATH_WINDOW_MS = 10_000;
const DRAIN_POLL_MS = 25;
/** A call that has run alone for so long is taken for the author of what native code and child processes print. */
const SETTLED_MS = 50;
/** Over the timeout: what calls in progress get to end when the pod is stopped. */
const DRAIN_GRACE_MS = 5_000;

export interface SupervisorParts {
  readonly config: SupervisorConfig;
  readonly log: LogSink;
  /** Ends the process for a reason that the pod's status shall tell. */
  readonly fail: (reason: FatalReason, message: string) => void;
}

/** Owns the call port and the workers: starts, replaces and ends them, and answers for those that cannot. */
export class Supervisor implements ControlActions {
  readonly #workers = new Set<WorkerProcess>();
  readonly #connections: Connections;
  readonly #watchdog: Watchdog;
  readonly #listener: Server;
  readonly #memoryLimit: number;
  #current: WorkerProcess | undefined;
  #idleDeaths: number[] = [];
  #isDraining = false;
  #hasFailed = false;

  constructor(private readonly parts: SupervisorParts) {
    const { worker, loadTimeoutMs } = parts.config;
    this.#connections = new Connections(worker.versionUid);
    this.#watchdog = new Watchdog(this.#workers, {
      timeoutMs: worker.timeoutMs,
      loadTimeoutMs,
      onLoadTimeout: (late) => {
        late.kill("not-loaded");
        this.#fail("LoadError", `${worker.entrypoint} did not finish loading within ${String(loadTimeoutMs / 1000)} s`);
      },
    });
    this.#memoryLimit = workerMemoryLimit(worker.memoryMb, privateMemory(process.pid) ?? 0);
    this.#listener = createServer({ pauseOnConnect: true, allowHalfOpen: true, noDelay: true }, (socket) =>
      this.#connections.accept(socket),
    );
  }

  async start(): Promise<void> {
    const { host, port, worker } = this.parts.config;
    await new Promise<void>((resolve, reject) => {
      this.#listener.once("error", reject);
      this.#listener.listen({ host, port, backlog: 1024 }, resolve);
    });
    if (!existsSync(worker.codeDir)) {
      this.#fail("LoadError", `there is no code: the folder of ${worker.entrypoint} is missing`);
      return;
    }
    this.#startWorker();
    this.#watchdog.start();
  }

  notReady(): NotReady | undefined {
    if (this.#isDraining) return { reason: "Draining", message: "the pod takes no more calls" };
    if (this.#current?.loaded === true) return undefined;
    return { reason: "Loading", message: `${this.parts.config.worker.entrypoint} is being loaded` };
  }

  state(): ControlState {
    const { concurrency, versionUid } = this.parts.config.worker;
    const ready = this.notReady() === undefined;
    return { inFlight: this.#callsInFlight(), concurrency, ready, draining: this.#isDraining, versionUid };
  }

  /** Stops taking calls; those in progress go on. */
  drain(): void {
    if (this.#isDraining) return;
    this.#isDraining = true;
    for (const worker of this.#workers) if (worker.loaded) worker.drain();
    if (this.#current?.loaded !== true) this.#refuseWaiting();
  }

  /** Drains, waits for the calls in progress within the function's timeout, and ends the workers. */
  async stop(): Promise<void> {
    this.drain();
    const giveUpAt = monotonicMs() + this.parts.config.worker.timeoutMs + DRAIN_GRACE_MS;
    while (!this.#isDrained() && monotonicMs() < giveUpAt) {
      await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS));
    }
    this.end();
  }

  /** Ends everything now. */
  end(): void {
    this.#isDraining = true;
    this.#watchdog.stop();
    this.#refuseWaiting();
    this.#listener.close();
    for (const worker of this.#workers) worker.kill("stopping");
  }

  #refuseWaiting(): void {
    const fault = this.#hasFailed ? "not-ready" : "draining";
    this.#connections.refuseWaiting({ fault, message: "the pod is being stopped" });
  }

  #callsInFlight(): number {
    let calls = 0;
    for (const worker of this.#workers) calls += worker.table.calls().length;
    return calls;
  }

  #isDrained(): boolean {
    const serving = [...this.#workers].filter((worker) => worker.loaded);
    return serving.every((worker) => worker.draining) && this.#callsInFlight() === 0;
  }

  #startWorker(): void {
    const worker = new WorkerProcess(this.parts.config, this.#memoryLimit, {
      onMessage: (sender, message) => this.#onMessage(sender, message),
      onDeath: (dead, death) => this.#onDeath(dead, death),
    });
    this.#current = worker;
    this.#workers.add(worker);
    const onlyRequestId = (): string => {
      const [call, ...others] = worker.table.calls();
      if (call === undefined || others.length > 0) return "";
      // What comes right after a call's start may have been printed for the one before it.
      return monotonicMs() - call.started > SETTLED_MS ? call.requestId : "";
    };
    new OutputCollector(this.parts.log, onlyRequestId).collect(worker.output);
  }

  #onMessage(worker: WorkerProcess, message: ToSupervisor): void {
    switch (message.type) {
      case "loaded":
        worker.loaded = true;
        if (this.#isDraining) worker.drain();
        this.#connections.route(worker);
        break;
      case "load-error":
        worker.kill("not-loaded");
        this.#fail("LoadError", message.message);
        break;
      case "closed":
        this.#connections.closed(message.slot, worker, message.reset);
        break;
      case "released":
        this.#connections.released(message.slot, worker);
        break;
      case "draining":
        worker.draining = true;
        break;
      case "retire":
        this.parts.log.platform("error", `${message.reason}; the process is replaced`, message.requestId);
        this.#replace(worker);
        break;
    }
  }

  /** The replacement starts at once; the old worker's calls go on until the watchdog sees that none is left. */
  #replace(worker: WorkerProcess): void {
    worker.retiringSince ??= monotonicMs();
    if (worker !== this.#current) return;
    this.#connections.route(undefined);
    this.#current = undefined;
    if (!this.#isDraining) this.#startWorker();
  }

  #onDeath(worker: WorkerProcess, death: WorkerDeath): void {
    if (!this.#workers.delete(worker)) return;
    const calls = worker.table.calls();
    if (worker === this.#current) {
      this.#connections.route(undefined);
      this.#current = undefined;
    }
    this.#connections.orphaned(worker, {
      faultOf: (call) => faultOfDeath(death, call),
      isComplete: death.tableComplete,
      now: death.at,
    });
    for (const call of calls) this.parts.log.platform("error", faultOfDeath(death, call).message, call.requestId);
    if (this.#isDraining || worker.retiringSince !== undefined) return;
    if (!worker.loaded) this.#onDeathWhileLoading(death);
    else if (calls.length > 0 || !this.#diesTooOften()) this.#startWorker();
    else
      this.#fail(
        "WorkerCrashed",
        `the process ended ${describeEnd(death)} ${String(MAX_IDLE_DEATHS)} times between calls`,
      );
  }

  #onDeathWhileLoading(death: WorkerDeath): void {
    const { fault, message } = faultOfDeath(death);
    if (fault === "out-of-memory") this.#fail("OutOfMemory", `${message} while it was loaded`);
    else
      this.#fail(
        "LoadError",
        `the process ended ${describeEnd(death)} while ${this.parts.config.worker.entrypoint} was loaded`,
      );
  }

  #diesTooOften(): boolean {
    const now = monotonicMs();
    this.#idleDeaths = [...this.#idleDeaths.filter((at) => now - at < IDLE_DEATH_WINDOW_MS), now];
    return this.#idleDeaths.length >= MAX_IDLE_DEATHS;
  }

  #fail(reason: FatalReason, message: string): void {
    if (this.#hasFailed || this.#isDraining) return;
    this.#hasFailed = true;
    this.end();
    this.parts.fail(reason, message);
  }
}
