import type { Build, FunctionVersion, FunctionVersionStatus } from "@sless/contracts";
import type { BuildState } from "../builds/build-runner.js";
import {
  conditionOf,
  fails,
  holds,
  isTrue,
  makeConditions,
  problem,
  type Problem,
  type Verdicts,
} from "../status/condition-set.js";
import { summarize } from "../status/phases.js";
import { boundedText } from "../status/text.js";
import type { Availability } from "./availability.js";

/** What one reconcile has found out so far. */
export interface VersionDraft {
  readonly verdicts: Verdicts<"FunctionVersion">;
  image?: string | undefined;
  build?: Build | undefined;
  readyReplicas: number;
  restarts: number;
}

/** A draft that repeats the earlier status: what no step speaks of stays. */
export const createVersionDraft = ({ status }: FunctionVersion): VersionDraft => ({
  verdicts: {},
  image: status?.image,
  build: status?.build,
  readyReplicas: status?.readyReplicas ?? 0,
  restarts: status?.restarts ?? 0,
});

/** Nothing of the version can be ready, and why. */
export const markBlocked = (draft: VersionDraft, why: Problem): void => {
  draft.verdicts.Ready ??= fails(why);
};

/** The image is on its way. A version whose image was proven once keeps saying so while that is proven anew. */
export const markBuilding = (draft: VersionDraft, version: FunctionVersion, state: BuildState): void => {
  if (isTrue(conditionOf(version, "ImageBuilt"))) return;
  const why = problem("Building", state.kind === "queued" ? "waits for its turn to be built" : "is being built");
  draft.verdicts.ImageBuilt = fails(why);
  markBlocked(draft, why);
};

export const markBuildFailed = (draft: VersionDraft, why: Problem): void => {
  draft.verdicts.ImageBuilt = fails(why);
  draft.verdicts.Available ??= fails(why);
  markBlocked(draft, why);
};

/** The image is proven to be the platform's build; whatever else stood in the status is put right (security 5). */
export const markBuilt = (draft: VersionDraft, state: Extract<BuildState, { kind: "built" }>): void => {
  const { image, strategy, warnings } = state.result;
  if (draft.image !== image || !draft.build) {
    const log = boundedText(warnings.join("\n"), 4096);
    draft.build = {
      strategy,
      startedAt: new Date(state.startedAt).toISOString(),
      seconds: Math.round(state.seconds * 1000) / 1000,
      ...(log !== "" && { log }),
    };
  }
  draft.image = image;
  draft.verdicts.ImageBuilt = holds("Built", image);
};

export const markWorkload = (draft: VersionDraft, availability: Availability): void => {
  draft.readyReplicas = availability.readyReplicas;
  draft.restarts = availability.restarts;
  draft.verdicts.Available = availability.available;
  draft.verdicts.Ready ??= availability.ready;
};

/** Adds what the crashed instance printed last. */
export const markLastLines = (draft: VersionDraft, lines: readonly string[]): void => {
  const ready = draft.verdicts.Ready;
  if (lines.length === 0 || !ready || ready.status === "True") return;
  draft.verdicts.Ready = { ...ready, message: `${ready.message}; its last lines: ${lines.join(" | ")}` };
};

/** The status that follows from a draft. */
export const makeVersionStatus = (
  version: FunctionVersion,
  draft: VersionDraft,
  time: string,
): FunctionVersionStatus => {
  const generation = version.metadata.generation ?? 0;
  const previous = version.status?.conditions ?? [];
  const conditions = makeConditions("FunctionVersion", previous, draft.verdicts, { time, generation });
  const { image, build, readyReplicas, restarts } = draft;
  return {
    ...summarize("FunctionVersion", conditions),
    conditions,
    observedGeneration: generation,
    ...(image !== undefined && { image }),
    ...(build !== undefined && { build }),
    readyReplicas,
    restarts,
  };
};
