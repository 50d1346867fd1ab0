import { LABELS, workloadNamespace, type Function, type LogLine } from "@sless/contracts";
import { listAll, NotFoundError, pods, type KubeClient, type Pod, type Selection } from "@sless/kube";
import type { Logger } from "../platform/logger.js";
import { followLogs, type PastOfPod } from "./follow.js";
import { toLogLine } from "./log-line.js";
import { createPastBuffer } from "./past-buffer.js";
import { byTime, readableRun, readPod, sourceOf } from "./pod-log.js";

export interface LogsRequest {
  readonly fn: Function;
  readonly tail: number;
  readonly since: Date | undefined;
  readonly version: number | undefined;
  readonly follow: boolean;
  readonly signal: AbortSignal;
}

export interface Logs {
  /** Lines of a function's pods in order of time, in batches; with `follow` without end. An empty batch is a sign of life. */
  read(request: LogsRequest): AsyncGenerator<LogLine[]>;
}

const PODS_AT_ONCE = 8;
/** What the past of all pods together may hold in memory; the newest lines stay. */
const MAX_PAST_BYTES = 16 * 1024 * 1024;

interface ReadPast {
  readonly lines: LogLine[];
  readonly uid: string;
  readonly past: PastOfPod;
}

const selectPods = ({ fn, version }: LogsRequest): Selection => {
  const labels = [`${LABELS.functionUid}=${fn.metadata.uid ?? ""}`];
  if (version !== undefined) labels.push(`${LABELS.version}=${version}`);
  return { namespace: workloadNamespace(fn.metadata.namespace ?? ""), labelSelector: labels.join(",") };
};

export const createLogs = (kube: Pick<KubeClient, "list" | "watch" | "podLogs">, logger: Logger): Logs => {
  /** A workload namespace that is not there yet has no pods. */
  const listPods = async (selection: Selection): Promise<Pod[]> => {
    try {
      return (await listAll(kube, pods, selection)).items;
    } catch (error) {
      if (error instanceof NotFoundError) return [];
      throw error;
    }
  };

  const readPast = async (pod: Pod, { tail, since, signal }: LogsRequest, maxBytes: number): Promise<ReadPast> => {
    const buffer = createPastBuffer(maxBytes);
    let past = { run: readableRun(pod) ?? -1, stamp: "", count: 0 };
    const sinceTime = since?.toISOString();
    // One line at least, to know where following goes on.
    for await (const line of readPod(kube, pod, { follow: false, tailLines: Math.max(1, tail), sinceTime, signal })) {
      past = { ...past, stamp: line.stamp, count: line.stamp === past.stamp ? past.count + 1 : 1 };
      const parsed = toLogLine(line, sourceOf(pod));
      if (since === undefined || Date.parse(parsed.time) >= since.getTime()) buffer.push(parsed);
    }
    return { lines: buffer.lines(), uid: pod.metadata.uid ?? "", past };
  };

  const readAllPast = async (request: LogsRequest, selection: Selection): Promise<ReadPast[]> => {
    const readable = (await listPods(selection)).filter((pod) => readableRun(pod) !== undefined);
    const queue = readable.values();
    const maxBytes = Math.floor(MAX_PAST_BYTES / Math.max(1, readable.length));
    const results: ReadPast[] = [];
    const work = async (): Promise<void> => {
      for (const pod of queue) results.push(await readPast(pod, request, maxBytes));
    };
    await Promise.all(Array.from({ length: PODS_AT_ONCE }, work));
    return results;
  };

  return {
    read: async function* (request) {
      const { tail, follow, since, signal } = request;
      const selection = selectPods(request);
      const past = await readAllPast(request, selection);
      const lines = past.flatMap((pod) => pod.lines).sort(byTime);
      yield lines.slice(Math.max(0, lines.length - tail));
      if (!follow) return;
      const seen = new Map(past.map((pod) => [pod.uid, pod.past]));
      yield* followLogs({ kube, selection, seen, sinceTime: since?.toISOString(), signal, logger });
    },
  };
};
