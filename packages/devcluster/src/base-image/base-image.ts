import type { BasicCredentials } from "../registry/basic-auth.js";
import { makeLayer, sha256Digest, type ImageFiles } from "./layer.js";

export interface BaseImageOptions {
  /** Where it is pushed to. */
  registry: { host: string; credentials: BasicCredentials };
  repository: string;
  /** Default `latest`. */
  tag?: string;
  files: ImageFiles;
  entrypoint: string[];
  /** `NAME: value`; sorted into the config. */
  env?: Record<string, string>;
  labels?: Record<string, string>;
  workingDir?: string;
}

const MANIFEST = "application/vnd.oci.image.manifest.v1+json";
const CONFIG = "application/vnd.oci.image.config.v1+json";
const LAYER = "application/vnd.oci.image.layer.v1.tar+gzip";
const ARCHITECTURES: Partial<Record<NodeJS.Architecture, string>> = { x64: "amd64", arm64: "arm64" };

const sorted = (record: Record<string, string> = {}): [string, string][] =>
  Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));

const makeConfig = (options: BaseImageOptions, diffId: string): Buffer =>
  Buffer.from(
    JSON.stringify({
      architecture: ARCHITECTURES[process.arch] ?? process.arch,
      config: {
        Entrypoint: options.entrypoint,
        Env: sorted(options.env).map(([name, value]) => `${name}=${value}`),
        Labels: Object.fromEntries(sorted(options.labels)),
        WorkingDir: options.workingDir ?? "/",
      },
      created: "1970-01-01T00:00:00Z",
      os: "linux",
      rootfs: { type: "layers", diff_ids: [diffId] },
    }),
  );

const createPush = ({ registry, repository }: BaseImageOptions) => {
  const { username, password } = registry.credentials;
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  return async (method: string, path: string, body: Buffer, type: string): Promise<void> => {
    const res = await fetch(`http://${registry.host}/v2/${repository}/${path}`, {
      method,
      headers: { Authorization: authorization, "Content-Type": type },
      body: new Uint8Array(body),
      redirect: "error",
    });
    if (res.status !== 201) throw new Error(`push of ${repository} failed: ${res.status} ${await res.text()}`);
  };
};

/**
 * Puts files of this machine into the registry as a single-layer OCI image. The same input gives the same digest.
 * @returns digest of the manifest
 */
export const makeBaseImage = async (options: BaseImageOptions): Promise<string> => {
  const layer = await makeLayer(options.files);
  const config = makeConfig(options, layer.diffId);
  const descriptor = (mediaType: string, body: Buffer) => ({
    mediaType,
    digest: sha256Digest(body),
    size: body.length,
  });
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: MANIFEST,
      config: descriptor(CONFIG, config),
      layers: [descriptor(LAYER, layer.body)],
    }),
  );
  const push = createPush(options);
  for (const blob of [layer.body, config]) {
    await push("POST", `blobs/uploads/?digest=${sha256Digest(blob)}`, blob, "application/octet-stream");
  }
  await push("PUT", `manifests/${options.tag ?? "latest"}`, manifest, MANIFEST);
  return sha256Digest(manifest);
};
