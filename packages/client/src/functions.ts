import type { Readable } from "node:stream";
import {
  FunctionBody,
  LogLine,
  page,
  RollbackResult,
  UploadResult,
  VersionBody,
  type CreateFunction,
  type FunctionSettings,
  type PatchFunction,
  type RollbackRequest,
} from "@sless/contracts";
import type { z } from "zod";
import { check, createCollection, withSignal, writeHeaders, type Collection, type WriteOptions } from "./collection.js";
import { readLines } from "./lines.js";
import { metered } from "./metered.js";
import { toApiError, type CallOptions, type RawAnswer, type Transport } from "./transport.js";

export interface LogOptions {
  readonly follow?: boolean;
  readonly tail?: number;
  /** Duration back from now, or RFC 3339. */
  readonly since?: string;
  readonly version?: number;
  readonly signal?: AbortSignal;
}

export interface Upload extends WriteOptions {
  readonly body: Buffer | Readable;
  readonly size: number;
  /** Only stores the code; a later write with its digest activates it. */
  readonly stage?: boolean;
  /** Told as bytes go out. */
  readonly onProgress?: (sentBytes: number, totalBytes: number) => void;
}

export interface InvokeOptions {
  readonly method?: CallOptions["method"];
  /** Begins with a slash; may carry a query. Sent as it is. */
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | Readable;
  readonly signal?: AbortSignal;
}

/** Bodies as their writers see them: what has a default may be left out. */
export type CreateFunctionInput = z.input<typeof CreateFunction>;
export type FunctionSettingsInput = z.input<typeof FunctionSettings>;

export interface Functions extends Collection<FunctionBody, CreateFunctionInput, FunctionSettingsInput, PatchFunction> {
  upload(name: string, upload: Upload): Promise<UploadResult>;
  versions(name: string, signal?: AbortSignal): Promise<readonly VersionBody[]>;
  rollback(name: string, request: RollbackRequest, options?: WriteOptions): Promise<RollbackResult>;
  /** Calls the function; whatever it answers, errors included, is returned. */
  invoke(name: string, options?: InvokeOptions): Promise<RawAnswer>;
  logs(name: string, options?: LogOptions): AsyncGenerator<LogLine>;
}

const UPLOAD_TIMEOUT_MS = 300_000;
/** Longest timeout of a function, and a little. */
const INVOKE_TIMEOUT_MS = 930_000;

/** Functions below a path. */
export const createFunctions = (transport: Transport, path: string): Functions => {
  const collection = createCollection<FunctionBody, CreateFunctionInput, FunctionSettingsInput, PatchFunction>(
    transport,
    path,
    FunctionBody,
  );
  const itemPath = (name: string) => `${path}/${encodeURIComponent(name)}`;
  const Versions = page(VersionBody);

  return {
    ...collection,
    async upload(name, { body, size, stage = false, signal, onProgress, ...conditions }) {
      const { value } = await transport.json(`${itemPath(name)}/upload`, {
        method: "POST",
        query: stage ? { stage: true } : {},
        headers: { ...writeHeaders(conditions), "content-type": "application/zip", "content-length": String(size) },
        body: onProgress ? metered(body, size, onProgress) : body,
        timeoutMs: UPLOAD_TIMEOUT_MS,
        ...withSignal(signal),
      });
      return check(UploadResult, value);
    },
    async versions(name, signal) {
      const { value } = await transport.json(`${itemPath(name)}/versions`, withSignal(signal));
      return check(Versions, value).items;
    },
    async rollback(name, request, options = {}) {
      const { value } = await transport.json(`${itemPath(name)}/rollback`, {
        method: "POST",
        json: request,
        headers: writeHeaders(options) ?? {},
        ...withSignal(options.signal),
      });
      return check(RollbackResult, value);
    },
    invoke: (name, { method = "POST", path: target = "", headers = {}, body, signal } = {}) =>
      transport.raw(`${itemPath(name)}/invoke${target}`, {
        method,
        headers,
        ...(body === undefined ? {} : { body }),
        timeoutMs: INVOKE_TIMEOUT_MS,
        silenceMs: INVOKE_TIMEOUT_MS,
        ...withSignal(signal),
      }),
    async *logs(name, { follow, tail, since, version, signal } = {}) {
      const answer = await transport.raw(`${itemPath(name)}/logs`, {
        query: { follow, tail, since, version },
        silenceMs: 0,
        ...withSignal(signal),
      });
      if (answer.statusCode !== 200) throw await toApiError(answer);
      for await (const line of readLines(answer.body)) yield check(LogLine, JSON.parse(line));
    },
  };
};
