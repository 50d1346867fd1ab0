import type { LogLine } from "@sless/contracts";
import { createReflector, pods, type KubeClient, type Pod, type Selection } from "@sless/kube";
import type { Logger } from "../platform/logger.js";
import { createMergeWindow } from "./merge-window.js";
import { toLogLine, type PodLine } from "./log-line.js";
import { readableRun, readPod, sourceOf } from "./pod-log.js";

export interface FollowOptions {
  readonly kube: Pick<KubeClient, "list" | "watch" | "podLogs">;
  readonly selection: Selection;
  /** For each pod (by uid) whose past was sent already, what of it. */
  readonly seen: ReadonlyMap<string, PastOfPod>;
  readonly sinceTime: string | undefined;
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/** How far a pod's log was read: the last stamp, and how many lines bore it. */
export interface PastOfPod {
  readonly run: number;
  readonly stamp: string;
  readonly count: number;
}

/** Lines of several pods come together for so long before they are put in order. */
const WINDOW_MS = 100;
/** An idle stream says that it lives, or proxies close it. */
const HEARTBEAT_MS = 15_000;

/** Drops what was sent before. Times asked for are rounded down to seconds by the cluster, so some lines come again. */
const createSkipper = (past: PastOfPod | undefined): ((line: PodLine) => boolean) => {
  let left = past?.count ?? 0;
  return ({ stamp }) => {
    if (past === undefined || stamp === "" || stamp > past.stamp) return false;
    if (stamp < past.stamp) return true;
    left -= 1;
    return left >= 0;
  };
};

/** Follows the pods of a selection, joining each run of each pod once as it starts. */
const createJoiner = (options: FollowOptions, push: (line: LogLine) => Promise<void>) => {
  const { kube, seen, sinceTime, signal, logger } = options;
  const joined = new Map<string, number>();

  const copy = async (pod: Pod, past: PastOfPod | undefined): Promise<void> => {
    const isSent = createSkipper(past);
    const source = sourceOf(pod);
    const from = past === undefined || past.stamp === "" ? sinceTime : past.stamp;
    for await (const line of readPod(kube, pod, { follow: true, sinceTime: from, signal })) {
      if (!isSent(line)) await push(toLogLine(line, source));
    }
  };

  return (pod: Pod): void => {
    const uid = pod.metadata.uid ?? "";
    const run = readableRun(pod);
    if (run === undefined || (joined.get(uid) ?? -1) >= run) return;
    joined.set(uid, run);
    const past = seen.get(uid);
    copy(pod, past?.run === run ? past : undefined).catch((error: unknown) => {
      if (!signal.aborted) logger.warn({ err: error, pod: pod.metadata.name }, "following a pod's log failed");
    });
  };
};

/**
 * Follows a function's log for as long as the signal allows: pods that come later are joined, those that go just end.
 * @returns batches in order of time; an empty one is a sign of life
 */
export async function* followLogs(options: FollowOptions): AsyncGenerator<LogLine[]> {
  const { kube, selection, signal, logger } = options;
  const window = createMergeWindow(WINDOW_MS, signal);
  const join = createJoiner(options, (line) => window.push(line));
  const reflector = createReflector<Pod, Pod>({
    client: kube,
    resource: pods,
    selection,
    prepare: (pod) => pod,
    sink: { replace: (all) => all.forEach(join), upsert: join, remove: () => undefined, progress: () => undefined },
    logger,
  });
  void reflector.run(signal);
  while (!signal.aborted) yield await window.take(HEARTBEAT_MS);
}
