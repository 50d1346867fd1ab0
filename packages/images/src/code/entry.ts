import type { TarSink } from "../layer/tar-sink.js";

/** One thing below the code directory. Paths are relative, in NFC, with `/`, without a trailing one. */
export type CodeEntry = CodeFile | CodeDirectory | CodeSymlink;

export interface CodeFile {
  kind: "file";
  path: string;
  /** Bytes that `emit` writes. */
  size: number;
  executable: boolean;
  /** Writes exactly `size` bytes to the sink. @throws CodeRejected when the content is not what was declared */
  emit(sink: TarSink): Promise<void>;
}

export interface CodeDirectory {
  kind: "directory";
  path: string;
}

export interface CodeSymlink {
  kind: "symlink";
  path: string;
  /** Relative, as it was written. */
  target: string;
}

/** Something odd that is no reason to refuse the code. */
export interface CodeWarning {
  code: "CaseCollision" | "SecretSkipped" | "DependenciesNotVendored";
  message: string;
}
