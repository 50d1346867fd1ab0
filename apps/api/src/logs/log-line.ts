import type { LogLine } from "@sless/contracts";
import { RuntimeLogLine } from "@sless/contracts";

/** A line as it came from a pod: with the cluster's own time for it, which orders lines of one pod. */
export interface PodLine {
  /** RFC 3339, as the cluster wrote it; empty when it wrote none. */
  readonly stamp: string;
  readonly text: string;
}

const STAMPED = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)) (.*)$/s;

/** Splits `2026-01-02T03:04:05.678901234Z text`. */
export const parsePodLine = (line: string): PodLine => {
  const match = STAMPED.exec(line);
  return match ? { stamp: match[1] ?? "", text: match[2] ?? "" } : { stamp: "", text: line };
};

const parseRuntimeLine = (text: string): RuntimeLogLine | undefined => {
  if (!text.startsWith("{")) return undefined;
  try {
    const result = RuntimeLogLine.safeParse(JSON.parse(text));
    return result.success ? result.data : undefined;
  } catch {
    return undefined;
  }
};

const isTime = (text: string): boolean => !Number.isNaN(Date.parse(text));

const stampedTime = (stamp: string): string =>
  stamp !== "" && isTime(stamp) ? new Date(stamp).toISOString() : new Date().toISOString();

export interface LogSource {
  readonly pod: string;
  readonly version: number | undefined;
}

/**
 * A line as the API answers it. What is not the runtime's form, such as what a crash of the runtime itself prints, is
 * passed on as text: it is the tenant's output, never trusted for more (security 17).
 */
export const toLogLine = ({ stamp, text }: PodLine, { pod, version }: LogSource): LogLine => {
  const line = parseRuntimeLine(text);
  const source = { pod, ...(version !== undefined && { version }) };
  if (!line) return { time: stampedTime(stamp), ...source, stream: "stderr", message: text };
  return {
    time: isTime(line.time) ? line.time : stampedTime(stamp),
    ...source,
    ...(line.requestId !== undefined && { request_id: line.requestId }),
    stream: line.stream,
    ...(line.level !== undefined && { level: line.level }),
    message: line.message,
    ...(line.truncated !== undefined && { truncated: line.truncated }),
  };
};
