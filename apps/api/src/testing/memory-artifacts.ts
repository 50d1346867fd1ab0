import { readFile } from "node:fs/promises";
import { ArtifactNotFound, ArtifactStoreUnavailable, type ArtifactStore } from "@sless/artifacts";

/** An object store in memory, as far as the API uses one. */
export interface MemoryArtifacts extends ArtifactStore {
  readonly objects: Map<string, Buffer>;
  /** True: every call fails as if the store could not be reached. */
  away: boolean;
}

const unused = (): never => {
  throw new Error("the API does not use this");
};

export const createMemoryArtifacts = (): MemoryArtifacts => {
  const objects = new Map<string, Buffer>();
  const check = (operation: string, key: string): void => {
    if (store.away) throw new ArtifactStoreUnavailable(operation, key, "connection refused");
  };
  const store: MemoryArtifacts = {
    objects,
    away: false,
    put: async (key, body) => {
      check("store", key);
      if (!("file" in body)) return unused();
      const bytes = await readFile(body.file);
      objects.set(key, bytes);
      return { size: bytes.length };
    },
    // eslint-disable-next-line @typescript-eslint/require-await -- throws into the promise
    head: async (key) => {
      check("look up", key);
      const found = objects.get(key);
      if (!found) throw new ArtifactNotFound("look up", key, "no such object");
      return { key, size: found.length };
    },
    get: unused,
    list: unused,
    delete: unused,
    deleteMany: unused,
    presignPut: unused,
    presignGet: unused,
    check: unused,
    close: () => undefined,
  };
  return store;
};
