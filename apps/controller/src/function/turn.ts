import type { ArtifactStore } from "@sless/artifacts";
import type { Function, FunctionVersion, RuntimeEntry } from "@sless/contracts";
import type { Clock, KubeClient } from "@sless/kube";
import type { Caches } from "../caches.js";
import type { TrafficAcknowledgements } from "../gateways/traffic-acknowledgement.js";
import type { StatusWriter } from "../status/write-status.js";
import type { FunctionDraft } from "./status.js";
import type { VersionPace } from "./version-pace.js";

export interface FunctionDeps {
  readonly caches: Pick<Caches, "tenants" | "functions" | "versions" | "triggers" | "reports" | "gatewayLeases">;
  readonly client: Pick<KubeClient, "create" | "delete" | "mergePatch">;
  readonly writeStatus: StatusWriter;
  readonly acknowledgements: TrafficAcknowledgements;
  readonly pace: VersionPace;
  readonly artifacts: Pick<ArtifactStore, "list" | "deleteMany">;
  readonly runtimes: readonly RuntimeEntry[];
  /** Mark on everything that this installation makes. */
  readonly installation: string;
  readonly clock: Clock;
}

/** One turn for one Function: what was read, and what is found out on the way. */
export interface FunctionTurn {
  readonly key: string;
  /** Its spec is checked and has its defaults. */
  readonly fn: Function;
  /** Own versions that are not being deleted, newest first. */
  readonly versions: readonly FunctionVersion[];
  readonly draft: FunctionDraft;
  readonly deps: FunctionDeps;
  /** When to look again although nothing may have happened, in ms from now. */
  wakeAfterMs?: number | undefined;
}

/** Asks to be woken; the earliest wish counts. */
export const wakeAfter = (turn: FunctionTurn, ms: number): void => {
  turn.wakeAfterMs = Math.min(ms, turn.wakeAfterMs ?? Infinity);
};
