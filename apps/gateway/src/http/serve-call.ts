import { HEADERS } from "@sless/contracts";
import type { Call, CallResult, Invoker } from "@sless/invoker";
import type { Logger } from "@sless/kube";
import type { CallMeter, ListenerName } from "../metrics/call-meter.js";
import { writeProblem } from "./problem.js";

export interface ServeDeps {
  readonly invoker: Pick<Invoker, "invoke">;
  readonly meter: CallMeter;
  readonly logger: Logger;
}

/** Whose call it is, for the books. */
export interface Account {
  readonly listener: ListenerName;
  /** Tenant namespace and name of the function. */
  readonly functionKey: string;
  readonly version: number;
}

/** Level by who has to act: the platform's own faults wake an operator, the function's are its owner's. */
const logFault = (logger: Logger, requestId: string, account: Account, result: CallResult): void => {
  const { fault, attempts, answerBegun } = result;
  if (fault === undefined) return;
  const { functionKey, version } = account;
  const fields = { requestId, function: functionKey, version, reason: fault.reason, attempts, answerBegun };
  if (fault.source === "platform") logger.warn(fields, "call ended by a fault of the platform");
  else logger.debug(fields, "call ended by a fault of the function");
};

/** Makes one call and answers it, whatever happens. */
export const serveCall = async ({ invoker, meter, logger }: ServeDeps, account: Account, call: Call): Promise<void> => {
  const start = performance.now();
  const result = await invoker.invoke(call);
  if (result.fault !== undefined && !result.answerBegun) {
    const version = { [HEADERS.version]: String(account.version) };
    writeProblem(call.request, call.response, call.requestId, { ...result.fault, headers: version });
  }
  meter.record(account.listener, account.functionKey, result, performance.now() - start);
  logFault(logger, call.requestId, account, result);
};
