import { createServer } from "node:http";
import { Call } from "./call.js";
import { Connection } from "./connection.js";
import { receiveBody } from "./receive-body.js";
import { declaredBody, parseRequestHead } from "./request-head.js";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Fault, WorkerConfig } from "../shared/protocol.js";
import type { CallTableWriter } from "./call-table-writer.js";
import type { CallRunner } from "./call-runner.js";
import type { RequestHead } from "./request-head.js";
import type { AnswerWriter } from "./send-answer.js";
import type { SupervisorChannel } from "./supervisor-channel.js";

/** Longest head of a request: the gateway passes on what its own limit allows. */
const MAX_HEAD_BYTES = 64 * 1024;
/** A refused body up to this length is read and dropped, so that the connection stays; a longer one costs it. */
const MAX_DROPPED_BODY_BYTES = 64 * 1024;

interface Refusal {
  readonly fault: Fault;
  readonly message: string;
}

export interface CallServerParts {
  readonly config: WorkerConfig;
  readonly runner: CallRunner;
  readonly writer: AnswerWriter;
  readonly channel: SupervisorChannel;
  readonly table: CallTableWriter;
}

/**
 * Accepts the calls of the connections that the supervisor hands over. It alone decides what is admitted, before a
 * request's body is read.
 */
export class CallServer {
  readonly #server: Server;
  readonly #connections = new Map<Socket, Connection>();
  #closedFor: "draining" | "retiring" | undefined;

  constructor(private readonly parts: CallServerParts) {
    this.#server = createServer({
      keepAliveTimeout: 0,
      headersTimeout: 0,
      requestTimeout: 0,
      connectionsCheckingInterval: 0x7fffffff,
      maxHeaderSize: MAX_HEAD_BYTES,
      requireHostHeader: false,
    });
    this.#server.maxHeadersCount = 0;
    this.#server.on("request", (request, response) => this.#onRequest(request, response));
    this.#server.on("checkContinue", (request, response) => this.#onRequest(request, response, true));
    this.#server.on("checkExpectation", (request, response) => this.#onRequest(request, response));
    this.#server.on("clientError", (_error, socket) => this.#onMalformed(socket as Socket));
  }

  /** Takes over a connection. */
  adopt(slot: number, socket: Socket): void {
    const connection = new Connection(slot, socket, this.parts.table.record(slot));
    socket.on("close", () => this.#onClose(connection));
    if (this.#closedFor === "retiring") {
      connection.release();
      return;
    }
    this.#connections.set(socket, connection);
    this.#server.emit("connection", socket);
  }

  /** No more calls: the pod goes. Connections stay open for the answers, and to refuse what still comes. */
  drain(): void {
    this.#closedFor = "draining";
    this.#arrangeEnds();
  }

  /** No more calls in this process: its idle connections go to the replacement, the others after their answers. */
  retire(): void {
    this.#closedFor ??= "retiring";
    if (this.#closedFor !== "retiring") return;
    for (const connection of this.#connections.values()) if (connection.pending === 0) connection.release();
    this.#arrangeEnds();
  }

  #arrangeEnds(): void {
    for (const connection of this.#connections.values()) {
      if (connection.call !== undefined) this.#arrangeEnd(connection, connection.call.response);
    }
  }

  #onRequest(request: IncomingMessage, response: ServerResponse, expectsContinue = false): void {
    const connection = this.#connections.get(request.socket);
    if (connection === undefined) return;
    connection.pending++;
    response.sendDate = false;
    if (this.#closedFor !== undefined) this.#arrangeEnd(connection, response);
    const head = parseRequestHead(request.rawHeaders);
    const refusal = this.#refusal(head);
    if (refusal !== undefined) {
      this.#refuse(response, head, refusal);
      connection.pending--;
      return;
    }
    if (expectsContinue) response.writeContinue();
    this.#admit(request, response, head, connection);
  }

  #refusal(head: RequestHead): Refusal | undefined {
    const { config, runner } = this.parts;
    const wanted = head.versionUid;
    if (wanted !== undefined && wanted !== config.versionUid) {
      return { fault: "wrong-version", message: `this pod runs version uid ${config.versionUid}` };
    }
    if (this.#closedFor === "draining") return { fault: "draining", message: "the pod is being stopped" };
    if (this.#closedFor === "retiring") return { fault: "not-ready", message: "the worker is being replaced" };
    if (runner.calls.size >= config.concurrency) {
      return {
        fault: "busy",
        message: `${String(config.concurrency)} calls are in progress, the function's concurrency`,
      };
    }
    const { length } = declaredBody(head.headers);
    if (length !== undefined && length > config.maxBodyBytes) return this.#tooLarge();
    if (budgetMs(head, config.timeoutMs) <= 0) return { fault: "timeout", message: "the call's deadline had passed" };
    return undefined;
  }

  #tooLarge(): Refusal {
    return {
      fault: "body-too-large",
      message: `the body is longer than ${String(this.parts.config.maxBodyBytes)} bytes`,
    };
  }

  #refuse(response: ServerResponse, head: RequestHead, { fault, message }: Refusal): void {
    const body = declaredBody(head.headers);
    const isLong = body.present && (body.length ?? Infinity) > MAX_DROPPED_BODY_BYTES;
    const close = isLong || this.#closedFor === "draining";
    this.parts.writer.refuse(response, fault, { errorType: "Refused", errorMessage: message }, { close });
  }

  #admit(request: IncomingMessage, response: ServerResponse, head: RequestHead, connection: Connection): void {
    const call = new Call(head, connection, response, budgetMs(head, this.parts.config.timeoutMs));
    this.parts.runner.admit(call);
    if (!declaredBody(head.headers).present) {
      this.parts.runner.run(call, request, undefined);
      return;
    }
    receiveBody(request, this.parts.config.maxBodyBytes, {
      onBody: (body) => {
        if (call.phase === "receiving") this.parts.runner.run(call, request, body);
      },
      onTooLarge: () => {
        response.shouldKeepAlive = false;
        const { fault, message } = this.#tooLarge();
        this.parts.runner.fail(call, fault, { errorType: "Refused", errorMessage: message });
      },
    });
  }

  /** For a response that is sent while the worker is going: what becomes of its connection after its last byte. */
  #arrangeEnd(connection: Connection, response: ServerResponse): void {
    if (this.#closedFor === "draining") response.shouldKeepAlive = false;
    else response.once("finish", () => connection.pending === 0 && connection.release());
  }

  #onClose(connection: Connection): void {
    this.#connections.delete(connection.socket);
    connection.record.close();
    const { slot, end, call } = connection;
    if (call !== undefined && end !== "released") this.parts.runner.callerGone(call);
    this.parts.channel.send(
      end === "released" ? { type: "released", slot } : { type: "closed", slot, reset: end === "reset" },
    );
  }

  #onMalformed(socket: Socket): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined || connection.pending > 0 || !socket.writable) {
      connection?.reset();
      return;
    }
    const body = JSON.stringify({ errorType: "Refused", errorMessage: "the request is not valid HTTP/1.1" });
    socket.end(
      `HTTP/1.1 400 Bad Request\r\nx-sless-fault: bad-request\r\nx-sless-version-uid: ${this.parts.config.versionUid}\r\n` +
        `content-type: application/json\r\ncontent-length: ${String(body.length)}\r\nconnection: close\r\n\r\n${body}`,
      () => socket.destroy(),
    );
  }
}

const budgetMs = (head: RequestHead, timeoutMs: number): number => {
  const given = Number(head.deadlineMs ?? Infinity);
  return Number.isNaN(given) ? timeoutMs : Math.min(given, timeoutMs);
};
