import { readFile } from "node:fs/promises";
import type { Container } from "../objects.js";
import { readLogs } from "../logs/log-reader.js";

/** Limits of the Kubernetes API for `terminated.message`. */
const MAX_FILE_BYTES = 4096;
const MAX_LOG_BYTES = 2048;
const MAX_LOG_LINES = 80;

const readTail = async (logFile: string): Promise<string> => {
  const lines: Buffer[] = [];
  for await (const line of readLogs(logFile, { tailLines: MAX_LOG_LINES })) lines.push(line);
  return Buffer.concat(lines).subarray(-MAX_LOG_BYTES).toString("utf8");
};

/**
 * What a container left to say: its termination file, or with FallbackToLogsOnError and a failure the end of its log.
 * @returns empty when there is nothing
 */
export const readLastWords = async (
  container: Container,
  { file, logFile, exitCode }: { file: string; logFile: string; exitCode: number },
): Promise<string> => {
  const written = await readFile(file).catch(() => Buffer.alloc(0));
  if (written.length > 0) return written.subarray(0, MAX_FILE_BYTES).toString("utf8");
  const falls = container.terminationMessagePolicy === "FallbackToLogsOnError" && exitCode !== 0;
  return falls ? readTail(logFile) : "";
};
