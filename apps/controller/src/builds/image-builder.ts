import type { ArtifactStore } from "@sless/artifacts";
import { artifactKey } from "@sless/contracts";
import {
  formatImageReference,
  parseImageReference,
  RegistryNotFound,
  type BuildStrategy,
  type ImageReference,
  type Platform,
  type RegistryClient,
} from "@sless/images";

/** What a version's image is made of, and for whom. */
export interface ImageRequest {
  readonly tenant: string;
  readonly functionName: string;
  readonly functionUid: string;
  readonly codeDigest: string;
  /** Base image of the runtime, by digest. */
  readonly baseImage: string;
}

export interface BuiltImage {
  /** `host/repository@sha256:…`, as nodes name it. */
  readonly image: string;
  readonly strategy: string;
  /** What the user should know of the code. */
  readonly warnings: readonly string[];
}

/** Makes and removes the images of one registry. Idempotent: the same request gives the same image, in any process. */
export interface ImageBuilder {
  /**
   * Builds, or takes the recorded image when it is proven to be this request's. A record may have been written by
   * anyone; the proof is the manifest in the tenant's repository, where the platform alone pushes (security 5).
   */
  build(request: ImageRequest, recorded: string | undefined, signal: AbortSignal): Promise<BuiltImage>;
  /** Removes an image of this tenant; any other name is left alone. */
  remove(tenant: string, image: string, signal: AbortSignal): Promise<void>;
}

interface ImageBuilderOptions {
  readonly strategy: BuildStrategy;
  readonly registry: RegistryClient;
  readonly artifacts: Pick<ArtifactStore, "get">;
  /** Path in the registry below which tenants' repositories lie. */
  readonly prefix: string;
  /** Host of the registry as nodes name it. */
  readonly pullHost: string;
  readonly platform: Platform;
}

const MARKS = {
  base: "org.opencontainers.image.base.name",
  codeDigest: "sless.kube5s.ru/code-digest",
  functionUid: "sless.kube5s.ru/function-uid",
} as const;

const readAnnotations = (bytes: Buffer): Record<string, unknown> => {
  const manifest = JSON.parse(bytes.toString("utf8")) as { annotations?: unknown } | null;
  const annotations = manifest?.annotations;
  return typeof annotations === "object" && annotations !== null ? (annotations as Record<string, unknown>) : {};
};

export const createImageBuilder = (options: ImageBuilderOptions): ImageBuilder => {
  const { strategy, registry, artifacts, prefix, pullHost, platform } = options;
  const repositoryOf = (tenant: string): string => `${prefix}/${tenant}`;

  /** The reference, if it lies in the tenant's own repository. */
  const parseOwn = (tenant: string, image: string): ImageReference | undefined => {
    try {
      const reference = parseImageReference(image);
      return reference.host === pullHost && reference.repository === repositoryOf(tenant) ? reference : undefined;
    } catch {
      return undefined; // A record that is no reference proves nothing.
    }
  };

  const proveRecorded = async (
    request: ImageRequest,
    recorded: string | undefined,
    signal: AbortSignal,
  ): Promise<string | undefined> => {
    const reference = recorded === undefined ? undefined : parseOwn(request.tenant, recorded);
    if (!reference) return undefined;
    try {
      const { bytes } = await registry.getManifest(reference.repository, reference.digest, signal);
      const marks = readAnnotations(bytes);
      const isOurs =
        marks[MARKS.base] === request.baseImage &&
        marks[MARKS.codeDigest] === request.codeDigest &&
        marks[MARKS.functionUid] === request.functionUid;
      return isOurs ? reference.digest : undefined;
    } catch (error) {
      if (error instanceof RegistryNotFound) return undefined;
      throw error;
    }
  };

  return {
    build: async (request, recorded, signal) => {
      const { tenant, functionName, functionUid, codeDigest, baseImage } = request;
      const key = artifactKey(tenant, functionUid, codeDigest);
      const recordedDigest = await proveRecorded(request, recorded, signal);
      const result = await strategy.build(
        {
          function: { name: functionName, uid: functionUid },
          repository: repositoryOf(tenant),
          base: baseImage,
          platform,
          code: { codeDigest, openArtifact: async () => (await artifacts.get(key, { signal })).stream },
          ...(recordedDigest !== undefined && { recordedDigest }),
        },
        { signal },
      );
      const { repository, digest, warnings } = result;
      return {
        image: formatImageReference({ host: pullHost, repository, digest }),
        strategy: strategy.name,
        warnings: warnings.map(({ message }) => message),
      };
    },
    remove: async (tenant, image, signal) => {
      const reference = parseOwn(tenant, image);
      if (reference) await registry.deleteManifest(reference.repository, reference.digest, signal);
    },
  };
};
