import type { ImageCache, ImageLease, PullPolicy } from "../image/image-cache.js";
import { createRegistryReader } from "../image/registry-client.js";
import { UnsafePathError } from "../image/safe-path.js";
import { ImageError } from "../image/unpack-layer.js";
import type { Container, Pod } from "../objects.js";
import { createBackoff, type BackoffOptions } from "./backoff.js";
import type { EventRecorder } from "./events.js";
import type { CredentialsFor } from "./pull-credentials.js";

export interface PullDeps {
  images: ImageCache;
  credentialsFor: CredentialsFor;
  events: EventRecorder;
}

export interface PullProgress {
  /** Says in the pod's status why it waits. */
  waitFor: (reason: string, message: string) => void;
  /** Waits, or returns early when the pod is stopped. */
  wait: (ms: number) => Promise<void>;
  signal: AbortSignal;
}

/** Waits between attempts; Kubernetes begins at 10 s. */
export const RETRY: BackoffOptions = { baseMs: 500, maxMs: 30_000, resetMs: Infinity };

/** By the defaults of the API: a name that can come to mean another image is asked for each time. */
const policyOf = ({ image, imagePullPolicy }: Container): PullPolicy =>
  imagePullPolicy ?? (/@sha256:|:(?!latest$)[^/:]+$/.test(image) ? "IfNotPresent" : "Always");

const isRefusal = (error: unknown): error is Error => error instanceof ImageError || error instanceof UnsafePathError;

/**
 * Gets the image of a container, trying again until it is there; each failure stands in the pod's status in the
 * registry's words.
 * @returns nothing when the pod was stopped meanwhile
 */
export const pullImage = async (
  { images, credentialsFor, events }: PullDeps,
  { pod, container }: { pod: Pod; container: Container },
  { waitFor, wait, signal }: PullProgress,
): Promise<ImageLease | undefined> => {
  const retry = createBackoff(RETRY);
  const policy = policyOf(container);
  const { image } = container;
  while (!signal.aborted) {
    try {
      const reader = createRegistryReader(credentialsFor(pod, image));
      const lease = await images.acquire({ image, policy, reader });
      const said = lease.pulled ? "Successfully pulled image" : "Container image already present on machine:";
      events.record(pod, "Normal", "Pulled", `${said} "${image}"`);
      return lease;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      events.record(pod, "Warning", "Failed", `Failed to pull image "${image}": ${error.message}`);
      if (policy === "Never") waitFor("ErrImageNeverPull", error.message);
      else {
        waitFor("ErrImagePull", error.message);
        waitFor("ImagePullBackOff", `Back-off pulling image "${image}": ${error.message}`);
      }
      await wait(retry.next(0) || RETRY.baseMs);
    }
  }
  return undefined;
};
