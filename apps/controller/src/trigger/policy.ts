import type { Function } from "@sless/contracts";
import { conditionOf, isTrue, problem, type Problem } from "../status/condition-set.js";

/** Why a trigger's function can't be called; undefined when it answers. */
export const functionProblem = (fn: Function | undefined, name: string): Problem | undefined => {
  if (!fn || fn.metadata.deletionTimestamp) return problem("FunctionNotFound", `there is no function ${name} yet`);
  if (isTrue(conditionOf(fn, "Serving"))) return undefined;
  const why = fn.status?.message;
  return problem(
    "FunctionNotReady",
    why ? `function ${name} does not answer: ${why}` : `function ${name} is not ready`,
  );
};

/** URL of a trigger: what a user types. */
export const makeUrl = (host: string, path: string, url: { scheme: string; port: string | undefined }): string =>
  `${url.scheme}://${host}${url.port === undefined ? "" : `:${url.port}`}${path === "/" ? "" : path}`;
