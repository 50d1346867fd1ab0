import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import { createReadStream, readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { gunzipSync } from "node:zlib";
import { MEDIA_TYPES, type RegistryClient } from "../src/index.js";

const REPOSITORY = "bench/base";

/**
 * Pushes a base image as small as one for Node can be: this machine's node binary and nothing else. Real ones are
 * larger, which costs only the other side, since ours mounts the layer unread.
 *
 * @returns its reference by digest
 */
export async function pushBaseImage(registry: RegistryClient, folder: string): Promise<string> {
  const layer = join(folder, "base.tar.gz");
  execFileSync("tar", ["czf", layer, "--transform", "s,.*/,usr/bin/,", "-P", process.execPath]);
  const diffId = `sha256:${createHash("sha256")
    .update(gunzipSync(readFileSync(layer)))
    .digest("hex")}`;
  const blob = await registry.uploadBlob(REPOSITORY, { open: () => Promise.resolve(createReadStream(layer)) });
  const config = Buffer.from(
    JSON.stringify({ os: "linux", architecture: "amd64", config: {}, rootfs: { type: "layers", diff_ids: [diffId] } }),
  );
  const configBlob = await registry.uploadBlob(REPOSITORY, { open: () => Promise.resolve(Readable.from([config])) });
  const manifest = {
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.manifest,
    config: { mediaType: MEDIA_TYPES.config, ...configBlob },
    layers: [{ mediaType: MEDIA_TYPES.layerGzip, ...blob }],
  };
  const bytes = Buffer.from(JSON.stringify(manifest));
  const digest = await registry.putManifest(REPOSITORY, "base", { bytes, mediaType: MEDIA_TYPES.manifest });
  return `${registry.host}/${REPOSITORY}@${digest}`;
}
