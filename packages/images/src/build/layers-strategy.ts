import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { DEFAULT_CODE_LIMITS } from "../code/limits.js";
import type { RegistryClient } from "../registry/client.js";
import { MEDIA_TYPES, type ImageManifest } from "../registry/documents.js";
import { formatImageReference, parseImageReference } from "../registry/reference.js";
import { cacheBaseImages } from "./base-cache.js";
import { dependencyHints } from "./dependency-hints.js";
import { makeConfig, makeManifest, type AddedDiffId, type AddedLayer, type PreparedBase } from "./image-documents.js";
import { BaseImageUnusable } from "./errors.js";
import { findWholeImage } from "./recorded-image.js";
import { shareLayers } from "./share-layers.js";
import { createStopwatch, type Stopwatch } from "./stopwatch.js";
import type { BuildContext, BuildRequest, BuildStrategy, BuiltLayer, DependencyLayer } from "./strategy.js";
import { together } from "./together.js";
import { verifyLayer } from "./verify-layer.js";

export interface LayersStrategyOptions {
  /** Where images go. */
  target: RegistryClient;
  /** The registry of a base image that is not in the target, by host. Default: there is none. */
  sourceFor?(host: string): RegistryClient | undefined;
  /** Bound on one uncompressed layer, bytes. */
  mostTarBytes?: number;
}

/** Part of every key: raise it when the same request would give another image. */
const FORMAT = 1;
/** What a tar may spend on heads, names and padding beside the files themselves. */
const TAR_OVERHEAD_BYTES = DEFAULT_CODE_LIMITS.entries * 4096;

/**
 * Puts base, dependency and code layers together in the registry without running anything: the base's blobs are mounted
 * or copied, code is streamed from the object store as it is, then come config and manifest.
 */
export function createLayersStrategy(options: LayersStrategyOptions): BuildStrategy {
  const builder: Builder = {
    ...options,
    mostTarBytes: options.mostTarBytes ?? DEFAULT_CODE_LIMITS.unpackedBytes + TAR_OVERHEAD_BYTES,
    readBase: cacheBaseImages(),
  };
  return {
    name: "layers",
    accepts: () => true,
    key: layersKey,
    build: async (request, context) => {
      const timings = createStopwatch();
      const recorded = await timings.of("recorded", () => findRecorded(builder, request, context));
      const image = recorded ?? (await pushImage(builder, request, context, timings));
      return {
        image: formatImageReference({
          host: builder.target.host,
          repository: request.repository,
          digest: image.digest,
        }),
        repository: request.repository,
        digest: image.digest,
        cached: recorded !== undefined,
        layers: describeLayers(image.manifest, request),
        timings: timings.read(),
        warnings: dependencyHints(request.code.summary?.files ?? []),
      };
    },
  };
}

interface Builder extends LayersStrategyOptions {
  mostTarBytes: number;
  readBase: ReturnType<typeof cacheBaseImages>;
}

interface PushedImage {
  digest: string;
  manifest: ImageManifest;
}

/** Settings and version numbers are no part: they do not change the image. */
function layersKey({ function: fn, base, platform, code, dependencies }: BuildRequest): string {
  const parts = ["layers", FORMAT, fn.uid, base, platform.os, platform.architecture, code.codeDigest];
  const all = [...parts, ...(dependencies ?? []).map((layer) => layer.codeDigest)];
  return createHash("sha256").update(JSON.stringify(all)).digest("hex");
}

async function findRecorded(
  { target }: Builder,
  request: BuildRequest,
  { signal }: BuildContext,
): Promise<PushedImage | undefined> {
  const digest = request.recordedDigest;
  if (digest === undefined) return undefined;
  const manifest = await findWholeImage(target, request.repository, digest, signal);
  return manifest && { digest, manifest };
}

/**
 * Everything that needs not wait runs side by side: the config is known before any layer is up, since it names layers
 * by the digests of their tars. Only the manifest comes last.
 */
async function pushImage(
  builder: Builder,
  request: BuildRequest,
  { signal }: BuildContext,
  timings: Stopwatch,
): Promise<PushedImage> {
  const [prepared, added] = await together(
    signal,
    (either) =>
      [
        timings.of("base", () => prepareBase(builder, request, either)),
        timings.of("layers", () => pushLayers(builder, request, either)),
      ] as const,
  );
  const manifest = makeManifest(request, prepared, added);
  return timings.of("manifest", async () => {
    const upload = { bytes: manifest.bytes, mediaType: MEDIA_TYPES.manifest, signal };
    await builder.target.putManifest(request.repository, imageTag(request, manifest.digest), upload);
    return { digest: manifest.digest, manifest: manifest.document };
  });
}

/** Makes the base's blobs readable in the function's repository and stores the config that names them. */
async function prepareBase(builder: Builder, request: BuildRequest, signal: AbortSignal): Promise<PreparedBase> {
  const { target } = builder;
  const { repository } = request;
  const reference = parseImageReference(request.base);
  const source = reference.host === target.host ? target : builder.sourceFor?.(reference.host);
  if (!source) throw new BaseImageUnusable(`Base image ${request.base} lies in a registry that is not configured`);
  const base = await builder.readBase(source, reference, request.platform, signal);
  const config = makeConfig(request, base, addedDiffIds(request));
  const open = () => Promise.resolve(Readable.from([config.bytes]));
  await together(signal, (either) => [
    shareLayers(base, { source, target, repository }, either),
    target.uploadBlob(repository, { open, digest: config.digest, size: config.bytes.length }, either),
  ]);
  return { base, config };
}

/** What comes on top of the base, in order. */
function addedSources(request: BuildRequest): { from: AddedLayer["from"]; layer: DependencyLayer }[] {
  const dependencies = (request.dependencies ?? []).map((layer) => ({ from: "dependencies" as const, layer }));
  return [...dependencies, { from: "code", layer: request.code }];
}

function addedDiffIds(request: BuildRequest): AddedDiffId[] {
  return addedSources(request).map(({ from, layer }) => ({ from, diffId: `sha256:${layer.codeDigest}` }));
}

function pushLayers(builder: Builder, request: BuildRequest, signal: AbortSignal): Promise<AddedLayer[]> {
  return together(signal, (either) =>
    addedSources(request).map((source) => pushLayer(builder, request, source, either)),
  );
}

async function pushLayer(
  { target, mostTarBytes }: Builder,
  request: BuildRequest,
  { from, layer }: { from: AddedLayer["from"]; layer: DependencyLayer },
  signal: AbortSignal,
): Promise<AddedLayer> {
  const open = async () => verifyLayer(await layer.openArtifact(), layer.codeDigest, mostTarBytes);
  const blob = await target.uploadBlob(request.repository, { open }, signal);
  return { from, ...blob };
}

/**
 * Registries collect what no tag names. The tag says the digest, so no two images ever want the same one, not even where
 * tags can't be moved.
 */
function imageTag({ function: fn }: BuildRequest, digest: string): string {
  return `fn-${fn.uid
    .toLowerCase()
    .replace(/[^a-z0-9]/g, "")
    .slice(0, 32)}-${digest.slice("sha256:".length, "sha256:".length + 32)}`;
}

function describeLayers({ layers }: ImageManifest, { dependencies }: BuildRequest): BuiltLayer[] {
  const code = layers.length - 1;
  const installed = code - (dependencies?.length ?? 0);
  return layers.map(({ digest, size }, index) => ({
    from: index === code ? "code" : index >= installed ? "dependencies" : "base",
    digest,
    size,
  }));
}
