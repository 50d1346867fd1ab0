import { renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { createArtifactStore } from "@sless/artifacts";
import type { TestPlatform } from "./platform.js";

/** Keys in the object store below a prefix. */
export const listObjects = async ({ cluster }: TestPlatform, prefix: string): Promise<string[]> => {
  const store = createArtifactStore({
    endpoint: cluster.urls.s3,
    region: "us-east-1",
    bucket: "sless",
    accessKeyId: "sless",
    secretAccessKey: cluster.secret,
  });
  const keys: string[] = [];
  for await (const { key } of store.list(prefix)) keys.push(key);
  store.close();
  return keys;
};

/**
 * True when the registry still has an image.
 * @param image `host/repository@sha256:…`
 */
export const hasImage = async ({ cluster }: TestPlatform, image: string): Promise<boolean> => {
  const [, repository, digest] = /^[^/]+\/(.+)@(sha256:[0-9a-f]{64})$/.exec(image) ?? [];
  const { status } = await fetch(`${cluster.urls.registry}/v2/${repository}/manifests/${digest}`, {
    headers: {
      authorization: `Basic ${Buffer.from(`sless:${cluster.secret}`).toString("base64")}`,
      accept: "application/vnd.oci.image.manifest.v1+json",
    },
  });
  if (status !== 200 && status !== 404) throw new Error(`the registry answered ${status}`);
  return status === 200;
};

/**
 * Takes the registry's data away, so that it answers each request with an error.
 * @returns brings it back
 */
export const breakRegistry = ({ dataDir }: TestPlatform): (() => void) => {
  const folder = join(dataDir, "cluster", "registry");
  renameSync(folder, `${folder}-away`);
  // A link to itself in the folder's place: an absent folder would look like an empty registry, which is no outage.
  symlinkSync(folder, folder);
  return () => {
    rmSync(folder);
    renameSync(`${folder}-away`, folder);
  };
};
