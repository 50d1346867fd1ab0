import type { Applier, Clock, KubeClient } from "@sless/kube";
import type { BuildRunner } from "../builds/build-runner.js";
import type { ImageBuilder } from "../builds/image-builder.js";
import type { Caches } from "../caches.js";
import type { StatusWriter } from "../status/write-status.js";

export interface VersionDeps {
  readonly caches: Pick<Caches, "tenants" | "functions" | "versions" | "deployments" | "services" | "pods">;
  readonly client: Pick<KubeClient, "mergePatch" | "podLogs">;
  readonly applier: Applier;
  readonly writeStatus: StatusWriter;
  readonly builds: BuildRunner;
  readonly images: ImageBuilder;
  readonly installation: string;
  /** How long a start may take before it counts as failed. */
  readonly startSeconds: number;
  readonly maxBodyBytes: number;
  readonly clock: Clock;
}
