import { LIMITS } from "@sless/contracts";

/** Bounds on code from outside. Bytes unless the name says otherwise. */
export interface CodeLimits {
  /** The zip itself. */
  uploadBytes: number;
  /** All files unpacked. */
  unpackedBytes: number;
  /** One file unpacked. */
  fileBytes: number;
  /** Files and folders. */
  entries: number;
  /** Unpacked over packed size, of one file and of all. */
  compressionRatio: number;
  /** What may come out before the ratio counts: small texts compress well without being bombs. */
  compressionFloorBytes: number;
  /** One path, in UTF-8. */
  pathBytes: number;
}

export const DEFAULT_CODE_LIMITS: CodeLimits = {
  uploadBytes: LIMITS.uploadBytes,
  unpackedBytes: LIMITS.unpackedBytes,
  fileBytes: LIMITS.fileBytes,
  entries: LIMITS.entries,
  compressionRatio: LIMITS.compressionRatio,
  compressionFloorBytes: LIMITS.compressionFloorBytes,
  pathBytes: LIMITS.pathBytes,
};
