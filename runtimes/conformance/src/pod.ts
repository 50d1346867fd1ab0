import { spawn } from "node:child_process";
import { randomInt, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { waitFor } from "./wait-for.js";
import { WireConnection } from "./wire-connection.js";
import type { ChildProcess } from "node:child_process";
import type { Reply } from "./wire-connection.js";

/** A runtime as the suite sees it: a command, and the language that its handlers are written in. */
export interface RuntimeUnderTest {
  readonly language: "node" | "python";
  readonly command: readonly [string, ...string[]];
  readonly env?: Readonly<Record<string, string>>;
}

/** What differs between pods of the suite; all else is as the controller sets it. */
export interface PodSettings {
  readonly entrypoint: string;
  /** The function's files by path; without them the code is `fixtures/<language>`. */
  readonly files?: Readonly<Record<string, string>>;
  readonly concurrency?: number;
  readonly timeoutSec?: number;
  readonly memoryMb?: number;
  readonly maxBodyBytes?: number;
  readonly env?: Readonly<Record<string, string>>;
}

export interface LogLine {
  readonly time: string;
  readonly requestId?: string;
  readonly stream: "stdout" | "stderr" | "platform";
  readonly level?: string;
  readonly message: string;
  readonly truncated?: number;
}

export interface CallOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly requestId?: string;
  readonly deadlineMs?: number;
  readonly versionUid?: string;
  /** An open connection to use; otherwise the call gets one of its own. */
  readonly connection?: WireConnection;
}

const CALL_PORT = 8080;
const CONTROL_PORT = 8081;
const VERSION_UID = "6d1f3c1e-version";
const FIXTURES = join(dirname(fileURLToPath(import.meta.url)), "..", "fixtures");

/** Linux routes all of 127/8 to loopback, so each pod has an address of its own, as in a cluster, and fixed ports. */
const freshAddress = (): string =>
  `127.${String(randomInt(1, 255))}.${String(randomInt(256))}.${String(randomInt(1, 255))}`;

/** One running pod of a function, and the gateway's side of it. */
export class Pod {
  readonly host = freshAddress();
  readonly versionUid = VERSION_UID;
  readonly logs: LogLine[] = [];
  /** Lines of stdout that are not JSON, and all of stderr: a right runtime leaves both empty. */
  readonly strayOutput: string[] = [];
  readonly codeDir: string;
  readonly #directory = mkdtempSync(join(tmpdir(), "sless-pod-"));
  readonly #process: ChildProcess;
  #exitCode: number | string | undefined;

  constructor(runtime: RuntimeUnderTest, settings: PodSettings) {
    const [program, ...parameters] = runtime.command;
    this.codeDir = settings.files === undefined ? join(FIXTURES, runtime.language) : this.#writeCode(settings.files);
    this.#process = spawn(program, parameters, {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...this.#environment(settings), ...runtime.env, ...settings.env },
    });
    this.#process.once("exit", (code, signal) => {
      this.#exitCode = code ?? signal ?? "unknown";
    });
    this.#process.once("error", (error) => {
      this.#exitCode = error.message;
    });
    this.#readOutput();
  }

  /** Waits until the pod says that it is ready. */
  async ready(): Promise<void> {
    await waitFor("readiness", async () => {
      if (this.#exitCode !== undefined)
        throw new Error(`the pod ended (${String(this.#exitCode)}): ${this.describe()}`);
      return (await this.control("GET", "/readyz").catch(() => undefined))?.status === 200;
    });
  }

  /** Opens a connection to the call port. */
  connect(): Promise<WireConnection> {
    return WireConnection.open(this.host, CALL_PORT);
  }

  /** Makes a call as the gateway does. */
  async call(target: string, options: CallOptions = {}): Promise<Reply> {
    const connection = options.connection ?? (await this.connect());
    try {
      this.send(connection, target, options);
      return await connection.reply(options.method);
    } finally {
      if (options.connection === undefined) connection.close();
    }
  }

  /** Sends the request of a call and does not wait for its answer. */
  send(connection: WireConnection, target: string, options: CallOptions = {}): void {
    const { method = "GET", body } = options;
    const headers = {
      host: "function",
      "x-sless-request-id": options.requestId ?? randomUUID(),
      "x-sless-deadline-ms": String(options.deadlineMs ?? 60_000),
      "x-sless-version-uid": options.versionUid ?? this.versionUid,
      ...(body !== undefined && { "content-length": String(Buffer.byteLength(body)) }),
      ...options.headers,
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join("")}\r\n`, "latin1");
    connection.write(body === undefined ? head : Buffer.concat([head, Buffer.from(body)]));
  }

  /** Asks the control port. */
  async control(method: string, path: string): Promise<Reply> {
    const connection = await WireConnection.open(this.host, CONTROL_PORT);
    try {
      connection.write(`${method} ${path} HTTP/1.1\r\nhost: control\r\nconnection: close\r\n\r\n`);
      return await connection.reply(method);
    } finally {
      connection.close();
    }
  }

  /** Waits for a log line. */
  async log(matches: (line: LogLine) => boolean): Promise<LogLine> {
    return await waitFor(
      "a log line",
      () => this.logs.find(matches),
      () => this.describe(),
    );
  }

  /** Waits for the pod's own end and returns its exit code, or the signal's name. */
  async exited(): Promise<number | string> {
    return await waitFor(
      "the pod's end",
      () => this.#exitCode,
      () => this.describe(),
    );
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** What the pod left for Kubernetes to read, as text; empty when nothing. */
  get terminationLog(): string {
    const file = join(this.#directory, "termination-log");
    return existsSync(file) ? readFileSync(file, "utf8") : "";
  }

  /** The last log lines, for messages of failed checks. */
  describe(): string {
    return JSON.stringify({ logs: this.logs.slice(-10), stray: this.strayOutput.slice(-10) }, undefined, 1);
  }

  /** Ends the pod and removes what it left. */
  async stop(): Promise<void> {
    if (this.#exitCode === undefined) {
      this.signal("SIGTERM");
      await this.exited().catch(() => this.signal("SIGKILL"));
    }
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #writeCode(files: Readonly<Record<string, string>>): string {
    const codeDir = join(this.#directory, "code");
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(codeDir, path)), { recursive: true });
      writeFileSync(join(codeDir, path), text);
    }
    return codeDir;
  }

  #environment(settings: PodSettings): Record<string, string> {
    return {
      PATH: process.env.PATH ?? "",
      HOME: this.#directory,
      TMPDIR: this.#directory,
      SLESS_HOST: this.host,
      SLESS_ENTRYPOINT: settings.entrypoint,
      SLESS_CODE_DIR: this.codeDir,
      SLESS_TIMEOUT_SEC: String(settings.timeoutSec ?? 10),
      SLESS_MEMORY_MB: String(settings.memoryMb ?? 128),
      SLESS_CONCURRENCY: String(settings.concurrency ?? 1),
      SLESS_FUNCTION: "hello",
      SLESS_VERSION: "7",
      SLESS_VERSION_UID: VERSION_UID,
      SLESS_NAMESPACE: "sless-0123456789abcdef",
      SLESS_MAX_BODY_BYTES: String(settings.maxBodyBytes ?? 6_291_456),
      SLESS_TERMINATION_LOG: join(this.#directory, "termination-log"),
    };
  }

  #readOutput(): void {
    const { stdout, stderr } = this.#process;
    if (stdout === null || stderr === null) return;
    createInterface({ input: stdout }).on("line", (line) => {
      try {
        this.logs.push(JSON.parse(line) as LogLine);
      } catch {
        this.strayOutput.push(line);
      }
    });
    createInterface({ input: stderr }).on("line", (line) => this.strayOutput.push(line));
  }
}

/** Starts a pod and waits until it is ready. */
export const startPod = async (runtime: RuntimeUnderTest, settings: PodSettings): Promise<Pod> => {
  const pod = new Pod(runtime, settings);
  try {
    await pod.ready();
    return pod;
  } catch (error) {
    await pod.stop();
    throw error;
  }
};
