import { STATUS_CODES } from "node:http";
import { FAULT_STATUS, HEADER_FAULT, HEADER_RUN_MS, HEADER_VERSION_UID } from "../shared/protocol.js";
import type { Fault } from "../shared/protocol.js";

/** A fault that the supervisor answers, because the worker cannot. */
export interface WorkerFault {
  readonly fault: Fault;
  readonly message: string;
}

/** The bytes of the whole response. They end the connection, whose state the dead worker took along. */
export const makeFaultResponse = ({ fault, message }: WorkerFault, versionUid: string, runMs?: number): string => {
  const body = JSON.stringify({ errorType: errorType(fault), errorMessage: message });
  const status = FAULT_STATUS[fault];
  const lines = [
    `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ""}`,
    "content-type: application/json",
    `content-length: ${String(Buffer.byteLength(body))}`,
    `${HEADER_FAULT}: ${fault}`,
    `${HEADER_VERSION_UID}: ${versionUid}`,
    ...(runMs === undefined ? [] : [`${HEADER_RUN_MS}: ${String(Math.round(runMs * 100) / 100)}`]),
    "connection: close",
  ];
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
};

const errorType = (fault: Fault): string => {
  if (fault === "timeout") return "Timeout";
  if (fault === "out-of-memory") return "OutOfMemory";
  return fault === "exited" ? "Exited" : "Refused";
};
