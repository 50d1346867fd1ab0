import type { KubeClient } from "../client.js";
import { refuse } from "./fake-store.js";

export type FakeVerb = Exclude<keyof KubeClient, "close">;

/** Decides per call: an error to throw, or undefined to let it pass. */
export type FailureRule = Error | ((key: string) => Error | undefined);

/** Failures ordered by test authors. */
export const createFailures = () => {
  const rules = new Set<{ verb: FakeVerb; kind: string; failure: FailureRule }>();
  return {
    failOn: (verb: FakeVerb, kind: string, failure?: FailureRule): (() => void) => {
      const fallback = refuse(500, "InternalError", `induced failure of ${verb} ${kind}`);
      const rule = { verb, kind, failure: failure ?? fallback };
      rules.add(rule);
      return () => rules.delete(rule);
    },
    check: (verb: FakeVerb, kind: string, key: string): void => {
      for (const rule of rules) {
        if (rule.verb !== verb || rule.kind !== kind) continue;
        const error = typeof rule.failure === "function" ? rule.failure(key) : rule.failure;
        if (error) throw error;
      }
    },
  };
};

export type Failures = ReturnType<typeof createFailures>;
