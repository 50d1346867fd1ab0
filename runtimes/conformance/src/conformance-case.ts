import type { Pod, PodSettings, RuntimeUnderTest } from "./pod.js";

/** One promise of a runtime; `run` rejects when it does not hold. Ids name a field report (R10) or a rule (security 17). */
export interface ConformanceCase {
  readonly id: string;
  readonly title: string;
  /** For what exists in one language only. */
  readonly only?: RuntimeUnderTest["language"];
  run(pod: Pod): Promise<void>;
}

/** Cases that share one ready pod, in order. */
export interface CaseGroup {
  readonly title: string;
  /** For what exists in one language only. */
  readonly only?: RuntimeUnderTest["language"];
  readonly pod: PodSettings;
  readonly cases: readonly ConformanceCase[];
}

/** A pod that never becomes ready: what it says about it. */
export interface LoadFailureCase {
  readonly id: string;
  readonly title: string;
  readonly only?: RuntimeUnderTest["language"];
  readonly pod: PodSettings;
  /** Files that no linter would leave alone, by path, in place of the language's fixtures. */
  readonly files?: Readonly<Partial<Record<RuntimeUnderTest["language"], Readonly<Record<string, string>>>>>;
  /** Texts that the message must hold; `{ext}` stands for the extension of the language's modules. */
  readonly says: readonly string[];
}
