import type { IncomingMessage, ServerResponse } from "node:http";
import { HEADERS, workloadNamespace, type ActiveTarget } from "@sless/contracts";
import type { AnswerHeadReader, CallResult, HeaderList, Invoker } from "@sless/invoker";
import type { Logger } from "@sless/kube";
import type { CallMeter, ListenerName } from "../metrics/call-meter.js";
import { writeProblem } from "./problem.js";

export interface ServeDeps {
  readonly invoker: Pick<Invoker, "invoke">;
  readonly meter: CallMeter;
  readonly logger: Logger;
}

/** A call whose way is known: what is left is to make it. */
export interface RoutedCall {
  readonly listener: ListenerName;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly tenant: string;
  /** Tenant namespace and name of the function. */
  readonly functionKey: string;
  readonly target: ActiveTarget;
  readonly path: string;
  readonly host: string;
  readonly headers: HeaderList;
  readonly context: string;
  readonly readHead: AnswerHeadReader;
  /** Headers for the answer beside request id and version. */
  readonly answerHeaders: readonly string[];
}

/** Level by who has to act: the platform's own faults wake an operator, the function's are its owner's. */
const logFault = (logger: Logger, call: RoutedCall, { fault, attempts, answerBegun }: CallResult): void => {
  if (fault === undefined) return;
  const { requestId, functionKey, target } = call;
  const fields = {
    requestId,
    function: functionKey,
    version: target.version,
    reason: fault.reason,
    attempts,
    answerBegun,
  };
  if (fault.source === "platform") logger.warn(fields, "call ended by a fault of the platform");
  else logger.debug(fields, "call ended by a fault of the function");
};

const answerHeadersOf = ({ requestId, target, answerHeaders }: RoutedCall): HeaderList => [
  HEADERS.requestId,
  requestId,
  HEADERS.version,
  String(target.version),
  ...answerHeaders,
];

/** Makes one call and answers it, whatever happens. */
export const serveCall = async ({ invoker, meter, logger }: ServeDeps, call: RoutedCall): Promise<void> => {
  const start = performance.now();
  const { request, response, requestId, tenant, target, path, host, headers, context, readHead } = call;
  const result = await invoker.invoke({
    ...{ request, response, tenant, requestId, path, host, headers, context, readHead },
    namespace: workloadNamespace(tenant),
    versionUid: target.uid,
    timeoutSec: target.timeoutSec,
    concurrency: target.concurrency,
    answerHeaders: answerHeadersOf(call),
  });
  if (result.fault !== undefined && !result.answerBegun) {
    const version = { [HEADERS.version]: String(target.version) };
    writeProblem(request, response, requestId, { ...result.fault, headers: version });
  }
  meter.record(call.listener, call.functionKey, result, performance.now() - start);
  logFault(logger, call, result);
};
