import { z } from "zod";

/** Ports of a function's pod: calls on one, everything that controls the pod on the other. */
export const PORTS = { call: 8080, control: 8081 } as const;

/** Name of the one container of a function's pod, and of the two ports of its Service. */
export const FUNCTION_CONTAINER = "function";
export const PORT_NAMES = { call: "call", control: "control" } as const;

/** Where the code and the runtime lie in an image. */
export const CODE_DIR = "/function";
export const RUNTIME_DIR = "/opt/sless/runtime";

/** Everything below this prefix is the platform's: dropped from what clients and functions send, then set anew. */
export const PLATFORM_HEADER_PREFIX = "x-sless-";

/** RFC 9110 7.6.1 and RFC 2616 13.5.1: they speak of one connection and are never passed on. */
export const HOP_BY_HOP_HEADERS = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
] as const;

export const HEADERS = {
  requestId: "x-sless-request-id",
  /** Remaining time in milliseconds; each hop takes the minimum of it and its own. */
  deadlineMs: "x-sless-deadline-ms",
  versionUid: "x-sless-version-uid",
  /** base64url of JSON that the runtime merges into `event.requestContext`. */
  context: "x-sless-context",
  fault: "x-sless-fault",
  /** Milliseconds that the handler ran. */
  runMs: "x-sless-run-ms",
  /** Number of the version that answered, on the gateway's answer. */
  version: "x-sless-version",
  /** `platform` or `function`: whose fault an error answer is. */
  faultSource: "x-sless-fault-source",
  /** API to gateway: who calls, signed. */
  caller: "x-sless-caller",
  invokeTag: "x-sless-invoke-tag",
  invokeVersion: "x-sless-invoke-version",
} as const;

/** How a runtime says that the answer is not the handler's own, and what the gateway may do about it. */
export const RUNTIME_FAULTS = {
  busy: { status: 503, source: "platform", retriable: true },
  draining: { status: 503, source: "platform", retriable: true },
  "not-ready": { status: 503, source: "platform", retriable: true },
  "wrong-version": { status: 421, source: "platform", retriable: true },
  "body-too-large": { status: 413, source: "platform", retriable: false },
  "bad-request": { status: 400, source: "platform", retriable: false },
  "handler-error": { status: 502, source: "function", retriable: false },
  "bad-result": { status: 502, source: "function", retriable: false },
  timeout: { status: 504, source: "function", retriable: false },
  exited: { status: 502, source: "function", retriable: false },
  "out-of-memory": { status: 502, source: "function", retriable: false },
} as const;
export type RuntimeFault = keyof typeof RUNTIME_FAULTS;

/** Body of a runtime's fault. */
export const FaultBody = z.object({
  errorType: z.string().max(256),
  errorMessage: z.string().max(8192),
  stackTrace: z.array(z.string().max(1024)).max(64).optional(),
});
export type FaultBody = z.infer<typeof FaultBody>;

/** One line that a runtime's supervisor writes to its standard output. */
export const RuntimeLogLine = z.object({
  time: z.string(),
  requestId: z.string().optional(),
  stream: z.enum(["stdout", "stderr", "platform"]),
  level: z.enum(["debug", "info", "warn", "error"]).optional(),
  message: z.string(),
  /** Bytes that were cut off the end of the message. */
  truncated: z.int().optional(),
});
export type RuntimeLogLine = z.infer<typeof RuntimeLogLine>;

/** What a supervisor leaves in the termination log when it can't go on. */
export const TerminationMessage = z.object({
  reason: z.enum(["LoadError", "OutOfMemory", "WorkerCrashed"]),
  message: z.string().max(4096),
});
export type TerminationMessage = z.infer<typeof TerminationMessage>;

/** Environment variables that a pod spec sets for the runtime. Users' names never begin with `SLESS_`. */
export const POD_ENV = {
  entrypoint: "SLESS_ENTRYPOINT",
  codeDir: "SLESS_CODE_DIR",
  timeoutSec: "SLESS_TIMEOUT_SEC",
  memoryMB: "SLESS_MEMORY_MB",
  concurrency: "SLESS_CONCURRENCY",
  function: "SLESS_FUNCTION",
  version: "SLESS_VERSION",
  versionUid: "SLESS_VERSION_UID",
  namespace: "SLESS_NAMESPACE",
  maxBodyBytes: "SLESS_MAX_BODY_BYTES",
} as const;

/** Prefixes that a function's own environment may not use: the platform's. */
export const RESERVED_ENV_PREFIXES = ["SLESS_"] as const;
/** Names that would change how the runtime itself starts. */
export const RESERVED_ENV_NAMES = [
  "NODE_OPTIONS",
  "NODE_CHANNEL_FD",
  "PYTHONHOME",
  "PYTHONPATH",
  "PYTHONSTARTUP",
  "LD_PRELOAD",
  "LD_LIBRARY_PATH",
  "PATH",
  "HOME",
  "HOSTNAME",
  "TMPDIR",
] as const;

/** Claims of the token with which the API tells the gateway on whose behalf it invokes. */
export const CallerClaims = z.object({
  aud: z.literal("sless-gateway"),
  sub: z.string().min(1).max(255),
  ns: z.string(),
  exp: z.int(),
  iat: z.int(),
});
export type CallerClaims = z.infer<typeof CallerClaims>;
export const CALLER_AUDIENCE = "sless-gateway";
