import { z } from "zod";
import { RegistryLied } from "./errors.js";
import { isDigest } from "./reference.js";

export const MEDIA_TYPES = {
  index: "application/vnd.oci.image.index.v1+json",
  manifest: "application/vnd.oci.image.manifest.v1+json",
  config: "application/vnd.oci.image.config.v1+json",
  layerGzip: "application/vnd.oci.image.layer.v1.tar+gzip",
  dockerIndex: "application/vnd.docker.distribution.manifest.list.v2+json",
  dockerManifest: "application/vnd.docker.distribution.manifest.v2+json",
} as const;

export const INDEX_TYPES: ReadonlySet<string> = new Set([MEDIA_TYPES.index, MEDIA_TYPES.dockerIndex]);

const Digest = z.string().refine(isDigest, "not a sha256 digest");

export const Descriptor = z.object({
  mediaType: z.string().max(255),
  digest: Digest,
  size: z.number().int().nonnegative(),
  platform: z.object({ os: z.string(), architecture: z.string(), variant: z.string().optional() }).partial().optional(),
  annotations: z.record(z.string(), z.string()).optional(),
});
export type Descriptor = z.infer<typeof Descriptor>;

export const ImageManifest = z.object({
  schemaVersion: z.literal(2),
  mediaType: z.string().optional(),
  config: Descriptor,
  layers: z.array(Descriptor).max(127),
});
export type ImageManifest = z.infer<typeof ImageManifest>;

export const ImageIndex = z.object({
  schemaVersion: z.literal(2),
  manifests: z.array(Descriptor).max(1000),
});
export type ImageIndex = z.infer<typeof ImageIndex>;

const HistoryEntry = z.looseObject({ created: z.string().optional(), created_by: z.string().optional() });

/** Loose: whatever else the base image states about how to run it is kept as it is. */
export const ImageConfig = z.looseObject({
  os: z.string(),
  architecture: z.string(),
  variant: z.string().optional(),
  config: z.looseObject({ Labels: z.record(z.string(), z.string()).nullish() }).optional(),
  rootfs: z.object({ type: z.literal("layers"), diff_ids: z.array(Digest) }),
  history: z.array(HistoryEntry).optional(),
});
export type ImageConfig = z.infer<typeof ImageConfig>;

/** @throws RegistryLied naming what the document is and the first thing wrong with it */
export function parseDocument<T>(schema: z.ZodType<T>, what: string, bytes: Buffer): T {
  let json: unknown;
  try {
    json = JSON.parse(bytes.toString("utf8"));
  } catch {
    throw new RegistryLied(`${what} is not JSON`);
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new RegistryLied(`${what} is malformed at ${issue?.path.join(".") ?? "its root"}: ${issue?.message ?? ""}`);
}
