import type { BuiltImage, ImageBuilder, ImageRequest } from "../builds/image-builder.js";

export interface FakeImages extends ImageBuilder {
  /** Requests in the order in which their builds began. */
  readonly built: readonly ImageRequest[];
  readonly removed: readonly string[];
  /** Makes the builds (or removals) fail that begin from now on; undefined lets them pass again. */
  failWith(error: Error | undefined): void;
  /** Builds that begin from now on wait for the returned release, or for their abort. */
  hold(): () => void;
  /** Builds that were told to stop. */
  readonly aborted: readonly ImageRequest[];
}

/** The image that the fake builds of a code digest: by digest, in the tenant's repository. */
export const fakeImage = (tenant: string, codeDigest: string): string =>
  `registry.test/sless/${tenant}@sha256:${codeDigest}`;

/** An image builder without registry, which can be held and made to fail. */
export const createFakeImages = (): FakeImages => {
  const built: ImageRequest[] = [];
  const removed: string[] = [];
  const aborted: ImageRequest[] = [];
  let failure: Error | undefined;
  let gate: Promise<void> = Promise.resolve();

  const untilReleased = (request: ImageRequest, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const stop = (): void => {
        aborted.push(request);
        reject(signal.reason as Error);
      };
      signal.addEventListener("abort", stop, { once: true });
      void gate.then(resolve);
    });

  return {
    built,
    removed,
    aborted,
    failWith: (error) => {
      failure = error;
    },
    hold: () => {
      let release = (): void => undefined;
      gate = new Promise((resolve) => {
        release = resolve;
      });
      return () => {
        gate = Promise.resolve();
        release();
      };
    },
    build: async (request, _recorded, signal): Promise<BuiltImage> => {
      built.push(request);
      await untilReleased(request, signal);
      if (failure) throw failure;
      return { image: fakeImage(request.tenant, request.codeDigest), strategy: "fake", warnings: [] };
    },
    remove: (_tenant, image) => {
      if (failure) return Promise.reject(failure);
      removed.push(image);
      return Promise.resolve();
    },
  };
};
