import { Readable } from "node:stream";
import type { ArtifactInfo, ArtifactStore } from "@sless/artifacts";

export interface FakeArtifacts extends Pick<ArtifactStore, "get" | "list" | "deleteMany"> {
  readonly keys: Set<string>;
  failWith(error: Error | undefined): void;
}

/** An object store in memory that can be made to fail. */
export const createFakeArtifacts = (): FakeArtifacts => {
  const keys = new Set<string>();
  let failure: Error | undefined;
  return {
    keys,
    failWith: (error) => {
      failure = error;
    },
    get: () => Promise.resolve({ stream: Readable.from([]), size: 0 }),
    // eslint-disable-next-line @typescript-eslint/require-await -- the interface is that of a store on a network
    list: async function* (prefix): AsyncGenerator<ArtifactInfo> {
      if (failure) throw failure;
      for (const key of [...keys].filter((candidate) => candidate.startsWith(prefix))) yield { key, size: 0 };
    },
    deleteMany: (asked) => {
      if (failure) return Promise.reject(failure);
      for (const key of asked) keys.delete(key);
      return Promise.resolve({ deleted: [...asked], failed: [] });
    },
  };
};
