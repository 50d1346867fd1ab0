import { artifactKey, type Function, type RuntimeEntry, type UploadResult } from "@sless/contracts";
import type { ArtifactStore } from "@sless/artifacts";
import { CodeRejected, LayerPoolBusy, LayerPoolError, type CodeLayer, type LayerPool } from "@sless/images";
import type { IncomingMessage } from "node:http";
import { InvalidCode, TooManyRequests, Unavailable } from "../errors.js";
import { codeDigestOf, toFunctionBody } from "../functions/dto.js";
import type { Functions } from "../functions/service.js";
import type { IdempotencyClaim } from "../http/idempotency.js";
import type { ItemKey, Items, WriteIntent } from "../resources/items.js";
import { findEntrypointProblem } from "./entrypoint.js";
import { withReceivedZip, type ReceivedZip } from "./receive.js";

export interface UploadsOptions {
  readonly items: Pick<Items<Function>, "get">;
  readonly functions: Pick<Functions, "activate">;
  readonly artifacts: Pick<ArtifactStore, "put">;
  readonly layers: Pick<LayerPool, "layerFromZip">;
  readonly runtimes: readonly RuntimeEntry[];
  readonly maxBytes: number;
}

export interface UploadRequest {
  readonly key: ItemKey;
  /** Only store the code; a later write names its digest. */
  readonly stage: boolean;
  readonly ifMatch: WriteIntent["ifMatch"];
  readonly claim: (bodyHash: string) => IdempotencyClaim | undefined;
  readonly signal: AbortSignal;
}

export interface Uploads {
  /** Zip to stored code layer to, unless staged, the function's code. */
  upload(body: IncomingMessage, request: UploadRequest): Promise<UploadResult>;
}

const explainPoolError = (error: unknown): unknown => {
  if (error instanceof CodeRejected) return new InvalidCode(error.message);
  if (error instanceof LayerPoolBusy) return new TooManyRequests(`${error.message}.`, 5);
  if (error instanceof LayerPoolError) return new Unavailable(error.message, 5, { cause: error });
  return error;
};

/** Uploads (security 22: zips are parsed on worker threads alone). What was answered with success is stored for good. */
export const createUploads = (options: UploadsOptions): Uploads => {
  const { items, functions, artifacts, layers, runtimes, maxBytes } = options;

  const refuseMissingEntrypoint = (fn: Function, layer: CodeLayer): void => {
    const family = runtimes.find(({ name }) => name === fn.spec.runtime)?.family;
    if (family === undefined) return;
    const paths = layer.files.map(({ path }) => path);
    const problem = findEntrypointProblem(fn.spec.entrypoint, family, paths);
    if (problem !== undefined) throw new InvalidCode(problem);
  };

  const makeLayer = async (zip: ReceivedZip, tenant: string, signal: AbortSignal): Promise<CodeLayer> => {
    try {
      return await layers.layerFromZip(zip.path, zip.layerPath, { tenant, signal });
    } catch (error) {
      throw explainPoolError(error);
    }
  };

  const process = async (zip: ReceivedZip, fn: Function, request: UploadRequest): Promise<UploadResult> => {
    const { key, stage, ifMatch, claim, signal } = request;
    const layer = await makeLayer(zip, key.namespace, signal);
    // Staged code may be meant for an entrypoint that is set together with it.
    if (!stage) refuseMissingEntrypoint(fn, layer);
    const uid = fn.metadata.uid ?? "";
    await artifacts.put(artifactKey(key.namespace, uid, layer.codeDigest), { file: zip.layerPath }, { signal });
    const result = {
      code_digest: layer.codeDigest,
      size_bytes: zip.bytes,
      files: layer.files.length,
      staged: stage,
      unchanged: codeDigestOf(fn) === layer.codeDigest,
      warnings: layer.warnings.map(({ message }) => message),
    };
    if (stage) return result;
    const changed = await functions.activate(key, uid, layer.codeDigest, { ifMatch, idempotency: claim(zip.hash) });
    return { ...result, function: toFunctionBody(changed) };
  };

  return {
    upload: async (body, request) => {
      const fn = await items.get(request.key);
      return withReceivedZip(body, maxBytes, (zip) => process(zip, fn, request));
    },
  };
};
