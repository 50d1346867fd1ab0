import type { Function } from "@sless/contracts";
import { TENANT_NAMESPACE, uidOf } from "@sless/testing";
import { conditionOf, isTrue } from "../status/condition-set.js";

/** Key of the code of `hello` whose digest is one digit repeated. */
export const codeKey = (digit: string, name = "hello"): string =>
  `${TENANT_NAMESPACE}/${uidOf("Function", name)}/${digit.repeat(64)}.tar.gz`;

/** True when what was last written answers. */
export const isReady = (fn: Function): boolean => {
  const ready = conditionOf(fn, "Ready");
  return isTrue(ready) && ready?.observedGeneration === fn.metadata.generation;
};

/** `False/LoadError`, as a test states a condition. */
export const verdictOf = (fn: Parameters<typeof conditionOf>[0], type = "Ready"): string => {
  const condition = conditionOf(fn, type);
  return condition ? `${condition.status}/${condition.reason}` : "none";
};

/** Numbers of the versions that take calls. */
export const routed = (fn: Function): number[] => (fn.status?.traffic ?? []).map(({ version }) => version);
