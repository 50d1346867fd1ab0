import { FUNCTION_CONTAINER, LABELS, type LogLine } from "@sless/contracts";
import { KubeError, type KubeClient, type Pod } from "@sless/kube";
import { errorCode } from "../platform/error-code.js";
import { parsePodLine, type LogSource, type PodLine } from "./log-line.js";
import { readLogLines } from "./read-lines.js";

export interface ReadOptions {
  readonly tailLines?: number | undefined;
  readonly sinceTime?: string | undefined;
  readonly follow: boolean;
  readonly signal: AbortSignal;
}

export const sourceOf = (pod: Pod): LogSource => {
  const version = Number(pod.metadata.labels?.[LABELS.version]);
  return { pod: pod.metadata.name ?? "", version: Number.isSafeInteger(version) && version > 0 ? version : undefined };
};

const statusOf = (pod: Pod) => pod.status?.containerStatuses?.find(({ name }) => name === FUNCTION_CONTAINER);

/** Which run of the pod's container can be read: grows with each restart; undefined before the first. */
export const readableRun = (pod: Pod): number | undefined => {
  const status = statusOf(pod);
  const hasStarted = status?.state?.running !== undefined || status?.state?.terminated !== undefined;
  return status && (hasStarted || status.restartCount > 0) ? status.restartCount : undefined;
};

/** Reads a pod's log line by line, with the cluster's own times. A pod that is gone or not yet started has none. */
export async function* readPod(
  kube: Pick<KubeClient, "podLogs">,
  pod: Pod,
  { follow, signal, tailLines, sinceTime }: ReadOptions,
): AsyncGenerator<PodLine> {
  const key = { name: pod.metadata.name ?? "", namespace: pod.metadata.namespace ?? "" };
  try {
    const stream = await kube.podLogs(key, {
      container: FUNCTION_CONTAINER,
      timestamps: true,
      follow,
      tailLines,
      sinceTime,
      signal,
    });
    try {
      for await (const line of readLogLines(stream)) yield parsePodLine(line);
    } finally {
      stream.destroy();
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    // A stream that broke means what its end means: the next event of the pod says whether there is more.
    if (!(error instanceof KubeError) && errorCode(error) === "") throw error;
  }
}

/** Orders lines by their time; lines of one time keep their order. */
export const byTime = (a: LogLine, b: LogLine): number => Date.parse(a.time) - Date.parse(b.time);
