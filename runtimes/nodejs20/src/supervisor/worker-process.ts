import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { CallTable } from "./call-table.js";
import { monotonicMs } from "../shared/monotonic-clock.js";
import { CALL_TABLE_FD, LOG_PIPE_FD, MAX_CONNECTIONS } from "../shared/protocol.js";
import { makeHeapFlags } from "./heap-flags.js";
import { kernelOomKills, privateMemory } from "./memory.js";
import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import type { ToSupervisor, ToWorker } from "../shared/protocol.js";
import type { SupervisorConfig } from "./config.js";
import type { KillReason, WorkerDeath } from "./worker-death.js";

/** What a dead worker printed is still read for this long, even when a child of it keeps the pipes open. */
const OUTPUT_GRACE_MS = 1_000;

export interface WorkerOutput {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Frames of output that the worker itself attributed (shared/log-frame.ts). */
  readonly frames: Readable;
}

export interface WorkerEvents {
  onMessage(worker: WorkerProcess, message: ToSupervisor): void;
  onDeath(worker: WorkerProcess, death: WorkerDeath): void;
}

/** One process that runs the function's code. */
export class WorkerProcess {
  readonly table = new CallTable(MAX_CONNECTIONS);
  readonly started = monotonicMs();
  readonly output: WorkerOutput;
  /** Monotonic milliseconds; undefined while it takes calls. */
  retiringSince: number | undefined;
  loaded = false;
  /** Has confirmed that it takes no more calls. */
  draining = false;
  readonly #child: ChildProcess;
  readonly #oomKillsBefore = kernelOomKills();
  #killedFor: KillReason | undefined;
  #memoryBytes = 0;

  constructor(
    private readonly config: SupervisorConfig,
    private readonly memoryLimit: number,
    events: WorkerEvents,
  ) {
    const script = join(dirname(process.argv[1] ?? ""), "worker.js");
    const stdio: ("ignore" | "pipe" | "ipc" | number)[] = ["ignore", "pipe", "pipe", "ipc"];
    stdio[LOG_PIPE_FD] = "pipe";
    stdio[CALL_TABLE_FD] = this.table.fd;
    this.#child = spawn(process.execPath, [...makeHeapFlags(config.worker.memoryMb), "--enable-source-maps", script], {
      stdio,
      env: config.functionEnv,
      cwd: config.worker.codeDir,
    });
    const [, stdout, stderr, , frames] = this.#child.stdio as Readable[];
    this.output = { stdout, stderr, frames } as WorkerOutput;
    this.#child.on("message", (message) => events.onMessage(this, message as ToSupervisor));
    // A failed spawn has no exit event; a failed send is followed by one.
    this.#child.on("error", () => this.#child.pid === undefined && events.onDeath(this, this.#death(null, null)));
    this.#child.once("exit", (code, signal) => events.onDeath(this, this.#death(code, signal)));
    this.#closeTableAfterOutput();
    this.#send({ type: "start", config: config.worker });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  adopt(slot: number, socket: Socket): void {
    this.table.cover(slot);
    this.#send({ type: "connection", slot }, socket);
  }

  drain(): void {
    this.#send({ type: "drain" });
  }

  kill(reason: KillReason): void {
    this.#killedFor ??= reason;
    this.#child.kill("SIGKILL");
  }

  /** Looks at the worker's memory and ends it when it has more than its limit. */
  checkMemory(): void {
    const bytes = this.pid === undefined ? undefined : privateMemory(this.pid);
    // A process that is being torn down has none left; what it last had is what tells why it ended.
    if (bytes === undefined || bytes === 0) return;
    this.#memoryBytes = bytes;
    if (bytes > this.memoryLimit) this.kill("memory");
  }

  #send(message: ToWorker, socket?: Socket): void {
    if (!this.#child.connected) return;
    // The duplicate stays ours (keepOpen); a worker that dies before it takes the socket leaves it to us.
    if (socket === undefined) this.#child.send(message, () => undefined);
    else this.#child.send(message, socket, { keepOpen: true }, () => undefined);
  }

  #death(code: number | null, signal: string | null): WorkerDeath {
    const header = this.table.header();
    return {
      code,
      signal,
      killedFor: this.#killedFor,
      aborted: header.aborted,
      tableComplete: header.complete || this.#killedFor !== undefined,
      memoryShare: this.#memoryBytes / this.memoryLimit,
      kernelOom: kernelOomKills() > this.#oomKillsBefore,
      memoryMb: this.config.worker.memoryMb,
      at: monotonicMs(),
    };
  }

  #closeTableAfterOutput(): void {
    let closed = false;
    const close = (): void => {
      if (closed) return;
      closed = true;
      for (const stream of Object.values(this.output)) (stream as Readable).destroy();
      this.table.close();
    };
    this.#child.once("close", close);
    this.#child.once("exit", () => setTimeout(close, OUTPUT_GRACE_MS).unref());
  }
}
