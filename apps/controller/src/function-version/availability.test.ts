import { describe, expect, it } from "@jest/globals";
import type { Deployment, Pod } from "@sless/kube";
import { aFailedStatus, aReadyStatus, aVersion, CREATED_AT } from "@sless/testing";
import { judgeWorkload } from "./availability.js";

type ContainerStatus = NonNullable<NonNullable<Pod["status"]>["containerStatuses"]>[number];

const START_SECONDS = 60;
const created = Date.parse(CREATED_AT);
const rolledOut: Deployment = {
  metadata: { generation: 1 },
  status: { observedGeneration: 1, updatedReplicas: 1 },
};
const aPod = (status: Pod["status"], spec?: Pod["spec"]): Pod => ({
  metadata: { name: "p", namespace: "n", creationTimestamp: CREATED_AT },
  ...(status && { status }),
  ...(spec && { spec }),
});
const ready = aPod({ conditions: [{ type: "Ready", status: "True" }] });
const container = (given: Partial<ContainerStatus>): Pod["status"] => ({
  containerStatuses: [{ name: "function", image: "", imageID: "", ready: false, restartCount: 0, ...given }],
});
const ended = (terminated: object, restartCount = 1) =>
  aPod(
    container({
      restartCount,
      state: { waiting: { reason: "CrashLoopBackOff" } },
      lastState: { terminated: { exitCode: 1, ...terminated } },
    }),
  );
const quota: Deployment = {
  ...rolledOut,
  status: {
    ...rolledOut.status,
    conditions: [
      { type: "ReplicaFailure", status: "True", reason: "FailedCreate", message: "exceeded quota: q, limited: pods=0" },
    ],
  },
};

interface Case {
  readonly name: string;
  readonly pods?: readonly Pod[];
  readonly deployment?: Deployment;
  readonly afterSeconds?: number;
  readonly want: string;
  readonly says?: RegExp;
}

const CASES: readonly Case[] = [
  { name: "all answer", pods: [ready], want: "True/Ready" },
  { name: "no pod yet", want: "False/Starting", says: /0 of 1/ },
  {
    name: "the code does not load",
    pods: [ended({ message: JSON.stringify({ reason: "LoadError", message: "index.js exports no handler" }) })],
    want: "False/LoadError",
    says: /exports no handler/,
  },
  {
    name: "a termination message that is not the supervisor's",
    pods: [ended({ exitCode: 3, message: "{" })],
    want: "False/CrashLoop",
    says: /exited with code 3; 1 restart/,
  },
  {
    name: "the program can't be started",
    pods: [ended({ exitCode: 128, reason: "StartError", message: "spawn python3.11 EACCES" })],
    want: "False/CrashLoop",
    says: /could not be started: spawn python3.11 EACCES; 1 restart/,
  },
  { name: "killed for memory", pods: [ended({ reason: "OOMKilled" })], want: "False/OutOfMemory" },
  {
    name: "the runtime says out of memory",
    pods: [ended({ message: JSON.stringify({ reason: "OutOfMemory", message: "limit 128 MiB" }) })],
    want: "False/OutOfMemory",
    says: /128 MiB/,
  },
  {
    name: "the image can't be pulled",
    pods: [aPod(container({ state: { waiting: { reason: "ImagePullBackOff", message: "not found" } } }))],
    want: "False/ImagePullFailed",
    says: /not found/,
  },
  {
    name: "no node has room",
    pods: [
      aPod({ conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/3 nodes" }] }),
    ],
    want: "False/Unschedulable",
    says: /0\/3 nodes/,
  },
  { name: "D27: a quota refuses the pod", deployment: quota, want: "False/QuotaExceeded", says: /limited: pods=0/ },
  {
    name: "it never becomes ready",
    pods: [aPod(container({ state: { running: {} } }))],
    afterSeconds: START_SECONDS + 1,
    want: "False/ProbeFailed",
    says: /within 60 s/,
  },
  {
    name: "a new template is still rolling out",
    pods: [ready],
    deployment: { ...rolledOut, metadata: { generation: 2 } },
    want: "False/Starting",
  },
  {
    name: "a pod on its way out does not count",
    pods: [{ ...ready, metadata: { ...ready.metadata, deletionTimestamp: CREATED_AT } }],
    want: "False/Starting",
  },
];

describe("judgeWorkload", () => {
  it.each(CASES)("$name: $want", ({ pods = [], deployment = rolledOut, afterSeconds = 1, want, says }) => {
    const now = created + afterSeconds * 1000;
    const verdict = judgeWorkload({ version: aVersion(), deployment, pods, now, startSeconds: START_SECONDS }).ready;
    expect(`${verdict.status}/${verdict.reason}`).toBe(want);
    expect(verdict.message).toMatch(says ?? /./);
  });

  it("says when a start will have taken too long", () => {
    const pods = [aPod(container({ state: { running: {} } }))];
    const view = {
      version: aVersion(),
      deployment: rolledOut,
      pods,
      now: created + 10_000,
      startSeconds: START_SECONDS,
    };
    expect(judgeWorkload(view).decideInMs).toBe(50_000);
  });

  it("remembers why a version failed that was scaled down for it, and lets any other rest", () => {
    const resting = (status: ReturnType<typeof aReadyStatus>) =>
      judgeWorkload({
        version: aVersion({ spec: { replicas: 0 }, status }),
        deployment: undefined,
        pods: [],
        now: created,
        startSeconds: START_SECONDS,
      }).ready.reason;
    expect(resting(aFailedStatus("LoadError", "no export"))).toBe("LoadError");
    expect(resting(aFailedStatus("QuotaExceeded", "no room"))).toBe("ScaledDown");
    expect(resting(aReadyStatus())).toBe("ScaledDown");
  });
});
