import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { Readable } from "node:stream";

/** What to store: bytes, a file of this process's own, or a stream whose length is known. */
export type ArtifactBody =
  | { bytes: Uint8Array }
  | { file: string }
  /** Read once, so never retried after the first byte was sent. */
  | { stream: Readable; contentLength: number };

export interface OpenedBody {
  body: Uint8Array | Readable;
  contentLength: number;
}

/** Opens a body for one try. Stores want a length up front: without one the SDK would need trailers or multipart. */
export async function openBody(source: ArtifactBody): Promise<OpenedBody> {
  if ("bytes" in source) return { body: source.bytes, contentLength: source.bytes.byteLength };
  if ("stream" in source) return { body: source.stream, contentLength: source.contentLength };
  const { size } = await stat(source.file);
  return { body: createReadStream(source.file), contentLength: size };
}

/** Runs a try again as long as it fails in a way that may pass, with exponential back-off and jitter. */
export async function retrying<T>(attempts: number, signal: AbortSignal, attempt: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await attempt();
    } catch (error) {
      const retryable = error instanceof Error && "retryable" in error && error.retryable === true;
      if (!retryable || tried >= attempts || signal.aborted) throw error;
      await pause(BACKOFF_MS * 2 ** (tried - 1) * (0.5 + Math.random() / 2), signal);
    }
  }
}

const BACKOFF_MS = 100;

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
  });
}
