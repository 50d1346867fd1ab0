import { RUNTIME_FAULTS, type FaultBody, type ProblemKind, type RuntimeFault } from "@sless/contracts";

/** Why a call got no answer of the function's own. A closed set: it becomes a header, a metric's label, a test's name. */
export type FaultReason =
  | RuntimeFault
  | "tenant-limit"
  | "gateway-full"
  | "queue-full"
  | "queue-timeout"
  | "no-instance"
  | "unreachable"
  | "invalid-answer";

/** A call's failure, told apart by whose it is. It knows status and text, not how they are sent. */
export interface CallFault {
  readonly source: "platform" | "function";
  readonly reason: FaultReason;
  readonly kind: ProblemKind;
  /** What happened, why, and what to do; fit for the public. */
  readonly detail: string;
  /** Class name of the function's own error. */
  readonly errorType?: string;
  /** When asking again makes sense. */
  readonly retryAfterSec?: number;
}

const KIND_OF_STATUS: Readonly<Record<number, ProblemKind>> = {
  400: "invalid-request",
  413: "too-large",
  502: "function-failed",
  503: "unavailable",
  504: "timeout",
};

/** True for a refusal that a runtime sends before it reads the body, so that another pod may be tried. */
export const isRefusal = (fault: RuntimeFault): boolean => RUNTIME_FAULTS[fault].retriable;

/** The runtime fault that a header names; undefined for any other text. */
export const parseRuntimeFault = (value: string): RuntimeFault | undefined =>
  Object.hasOwn(RUNTIME_FAULTS, value) ? (value as RuntimeFault) : undefined;

/**
 * A fault that a runtime reported. Type and message go to the caller; the stack does not, since it names paths (R22).
 * @param body undefined when none came, as in answer to HEAD.
 */
export const makeRuntimeFault = (reason: RuntimeFault, body: FaultBody | undefined): CallFault => {
  const { status, source } = RUNTIME_FAULTS[reason];
  return {
    source,
    reason,
    kind: KIND_OF_STATUS[status] ?? "function-failed",
    detail: body?.errorMessage ?? `The function's runtime reported ${reason}.`,
    ...(body === undefined ? {} : { errorType: body.errorType }),
  };
};

const platform = (reason: FaultReason, kind: ProblemKind, detail: string, retryAfterSec?: number): CallFault => ({
  source: "platform",
  reason,
  kind,
  detail,
  ...(retryAfterSec === undefined ? {} : { retryAfterSec }),
});

export const makeTenantLimitFault = (limit: number): CallFault =>
  platform(
    "tenant-limit",
    "too-many-requests",
    `Your functions have ${limit} calls under way here, as many as may.`,
    1,
  );

export const makeGatewayFullFault = (): CallFault =>
  platform("gateway-full", "unavailable", "The gateway holds as many calls as it can. Try again.", 1);

export const makeQueueFullFault = (limit: number): CallFault =>
  platform(
    "queue-full",
    "too-many-requests",
    `${limit} calls wait for the function already. Send fewer at once, or raise scale.min or scale.concurrency.`,
    1,
  );

export const makeQueueTimeoutFault = (waitedSec: number): CallFault =>
  platform(
    "queue-timeout",
    "unavailable",
    `No instance of the function was free within ${waitedSec} s. Raise scale.min or scale.concurrency.`,
    2,
  );

export const makeNoInstanceFault = (waitedSec: number): CallFault =>
  platform("no-instance", "unavailable", `No instance of the function came up within ${waitedSec} s. Try again.`, 5);

export const makeUnreachableFault = (): CallFault =>
  platform("unreachable", "unavailable", "No instance of the function could be reached. The call was not sent.", 2);

export const makeBodyTooLargeFault = (maxBytes: number): CallFault =>
  platform("body-too-large", "too-large", `The body is larger than ${maxBytes} bytes, which is the limit of a call.`);

/** The call was refused after more of its body had gone out than is kept for sending it again. */
export const makeUnrepeatableFault = (reason: RuntimeFault): CallFault =>
  platform(reason, "unavailable", "The instance had no room, and the body is too large to be sent again from here.", 1);

export const makeDeadlineFault = (timeoutSec: number): CallFault => ({
  source: "function",
  reason: "timeout",
  kind: "timeout",
  detail: `The function did not answer within its ${timeoutSec} s. Raise timeoutSec, or do less in one call.`,
});

/** The connection broke after the call was sent: its process ended, and nobody knows how far it came. */
export const makeExitedFault = (): CallFault => ({
  source: "function",
  reason: "exited",
  kind: "function-failed",
  detail: "The function's process ended before it answered. The call may have had effects; it is not sent again.",
});

/** The request has something in it that can't be passed on as HTTP. */
export const makeInvalidRequestFault = (why: string): CallFault =>
  platform("bad-request", "invalid-request", `The request can't be passed on: ${why}.`);

export const makeInvalidAnswerFault = (why: string, source: CallFault["source"]): CallFault => ({
  source,
  reason: "invalid-answer",
  kind: "function-failed",
  detail: `The instance gave an answer that can't be passed on: ${why}.`,
});
