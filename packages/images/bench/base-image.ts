import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import { createReadStream, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { gunzipSync } from "node:zlib";
import { MEDIA_TYPES, type RegistryClient } from "../src/index.js";

const REPOSITORY = "bench/base";
/** What node:20-slim has of Debian below Node, unpacked. */
const SYSTEM_BYTES = 75_000_000;
const LIBRARIES = "/usr/lib/x86_64-linux-gnu";

/**
 * Pushes a base image like the usual one for Node (node:20-slim: 200 MB in a Debian and a Node layer), of this
 * machine's own files: its libraries up to the size of a slim Debian, and node.
 *
 * @returns its reference by digest
 */
export async function pushBaseImage(registry: RegistryClient, folder: string): Promise<string> {
  const layers = [
    await pushLayer(registry, folder, systemFiles()),
    await pushLayer(registry, folder, [process.execPath]),
  ];
  const rootfs = { type: "layers", diff_ids: layers.map(({ diffId }) => diffId) };
  const config = Buffer.from(JSON.stringify({ os: "linux", architecture: "amd64", config: {}, rootfs }));
  const configBlob = await registry.uploadBlob(REPOSITORY, { open: () => Promise.resolve(Readable.from([config])) });
  const manifest = {
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.manifest,
    config: { mediaType: MEDIA_TYPES.config, ...configBlob },
    layers: layers.map(({ digest, size }) => ({ mediaType: MEDIA_TYPES.layerGzip, digest, size })),
  };
  const bytes = Buffer.from(JSON.stringify(manifest));
  const digest = await registry.putManifest(REPOSITORY, "base", { bytes, mediaType: MEDIA_TYPES.manifest });
  return `${registry.host}/${REPOSITORY}@${digest}`;
}

async function pushLayer(registry: RegistryClient, folder: string, files: string[]) {
  const layer = join(folder, "base.tar.gz");
  execFileSync("tar", ["czf", layer, "-P", "--transform", "s,^/,,", "--files-from", "-"], { input: files.join("\n") });
  const diffId = `sha256:${createHash("sha256")
    .update(gunzipSync(readFileSync(layer)))
    .digest("hex")}`;
  const blob = await registry.uploadBlob(REPOSITORY, { open: () => Promise.resolve(createReadStream(layer)) });
  return { diffId, ...blob };
}

function systemFiles(): string[] {
  let left = SYSTEM_BYTES;
  const entries = readdirSync(LIBRARIES, { withFileTypes: true }).filter((entry) => entry.isFile());
  return entries
    .map(({ name }) => join(LIBRARIES, name))
    .sort()
    .filter((path) => (left -= statSync(path).size) > 0);
}
