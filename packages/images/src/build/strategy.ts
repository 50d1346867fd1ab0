import type { Readable } from "node:stream";
import type { CodeWarning } from "../code/entry.js";
import type { CodeSummary } from "../layer/layer-from-zip.js";

export interface Platform {
  os: string;
  /** As Go writes it: `amd64`, `arm64`. */
  architecture: string;
}

/** Everything that decides what a function's image contains. Settings (env, entrypoint, memory) are the pod's, not the image's. */
export interface BuildRequest {
  function: { name: string; uid: string };
  /** Where the image goes in the target registry: one repository per tenant. */
  repository: string;
  /** Runtime image, `host/repository@sha256:…`. */
  base: string;
  platform: Platform;
  code: {
    /** 64 hex digits: sha256 of the uncompressed layer. */
    codeDigest: string;
    /** Opens the compressed layer anew; what it yields is not believed. */
    openArtifact(): Promise<Readable>;
    /** What it consists of, where known; for hints to the user. */
    summary?: Pick<CodeSummary, "files">;
  };
  /** Layers of an installer, between base and code. Empty until there is one. */
  dependencies?: readonly DependencyLayer[];
  /** Digest recorded for the same `key` earlier. It is checked, and used if the registry still has all of it. */
  recordedDigest?: string;
}

export interface BuildContext {
  signal?: AbortSignal;
}

export interface BuiltLayer {
  from: "base" | "dependencies" | "code";
  digest: string;
  /** Compressed bytes. */
  size: number;
}

export interface BuildResult {
  /** `host/repository@sha256:…`, what a pod runs. */
  image: string;
  repository: string;
  digest: string;
  /** True when the recorded image was still whole and nothing was pushed. */
  cached: boolean;
  layers: BuiltLayer[];
  /** Milliseconds by step. */
  timings: Record<string, number>;
  warnings: CodeWarning[];
}

/**
 * One way from code to an image. Code that a strategy finds at fault (`CodeRejected`) is refused, never handed to
 * another strategy.
 */
export interface BuildStrategy {
  readonly name: string;
  /** True, or why this strategy is not for this code. */
  accepts(inspected: Pick<CodeSummary, "files">): true | string;
  /** Same key, same image: under it a caller records what was built. */
  key(request: BuildRequest): string;
  /** Idempotent: may be run again after any failure, by another process too. */
  build(request: BuildRequest, context: BuildContext): Promise<BuildResult>;
}

/** A layer of installed dependencies, stored in the object store like code. */
export interface DependencyLayer {
  codeDigest: string;
  openArtifact(): Promise<Readable>;
}

/** What a language's installer needs of the code. */
export interface DependencyManifest {
  /** Path of the lock file or list, such as `package-lock.json`. */
  path: string;
  installer: string;
}

export interface InstallRequest {
  tenant: string;
  runtime: string;
  platform: Platform;
  manifest: DependencyManifest;
  /** Contents of the manifest's files by path. */
  files: ReadonlyMap<string, Buffer>;
}

/**
 * Installs a language's dependencies into a layer of their own, once per key. No implementation stands behind it yet:
 * the strategies take the layers of one as `BuildRequest.dependencies`.
 */
export interface DependencyInstaller {
  readonly name: string;
  /** Undefined when there is nothing to install, or the code brings its dependencies along. */
  detect(files: CodeSummary["files"]): DependencyManifest | undefined;
  /** Per tenant, against poisoning; covers lock file, runtime ABI, platform and installer version. */
  key(request: InstallRequest): string;
  install(request: InstallRequest, context: BuildContext): Promise<DependencyLayer>;
}
