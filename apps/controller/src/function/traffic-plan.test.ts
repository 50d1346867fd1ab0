import { describe, expect, it } from "@jest/globals";
import type { Function, FunctionVersion, FunctionVersionStatus } from "@sless/contracts";
import { aFailedStatus, aFunction, aReadyStatus, aTarget, aVersion } from "@sless/testing";
import { isProblem } from "./code.js";
import { activeTargets, wantedTargets } from "./targets.js";
import { planTraffic } from "./traffic-plan.js";

interface Case {
  readonly name: string;
  /** Statuses and replicas of versions 1, 2, …; the traffic that they take now, in percent. */
  readonly versions: readonly { status?: FunctionVersionStatus; replicas: number; percent?: number }[];
  readonly spec?: Partial<Function["spec"]>;
  readonly acknowledged?: boolean;
  readonly retry?: boolean;
  readonly want: { readonly routed: string; readonly replicas: string; readonly blocked?: string };
}

const min = (count: number) => ({ scale: { min: count, concurrency: 1 } });
const quota = aFailedStatus("QuotaExceeded", "exceeded quota");
const loadError = (restarts: number) => aFailedStatus("LoadError", "no export", { restarts });

const CASES: readonly Case[] = [
  {
    name: "starts the first version",
    versions: [{ replicas: 1 }],
    want: { routed: "", replicas: "1", blocked: "Starting" },
  },
  {
    name: "routes to the first version as soon as one of its instances answers",
    versions: [{ status: aReadyStatus(1), replicas: 3 }],
    spec: min(3),
    want: { routed: "1:100", replicas: "3", blocked: "MovingTraffic" },
  },
  {
    name: "starts as many instances as the old version has",
    versions: [{ status: aReadyStatus(5), replicas: 5, percent: 100 }, { replicas: 1 }],
    want: { routed: "1:100", replicas: "5,5", blocked: "Starting" },
  },
  {
    name: "does not move below the old capacity",
    versions: [
      { status: aReadyStatus(5), replicas: 5, percent: 100 },
      { status: aReadyStatus(4), replicas: 5 },
    ],
    want: { routed: "1:100", replicas: "5,5", blocked: "Starting" },
  },
  {
    name: "moves at the old capacity and keeps the old instances",
    versions: [
      { status: aReadyStatus(5), replicas: 5, percent: 100 },
      { status: aReadyStatus(5), replicas: 5 },
    ],
    want: { routed: "2:100", replicas: "5,5", blocked: "MovingTraffic" },
  },
  {
    name: "keeps the old instances while a gateway lags",
    versions: [
      { status: aReadyStatus(5), replicas: 5 },
      { status: aReadyStatus(5), replicas: 5, percent: 100 },
    ],
    acknowledged: false,
    want: { routed: "2:100", replicas: "5,5" },
  },
  {
    name: "lets the old instances go once all gateways have followed",
    versions: [
      { status: aReadyStatus(5), replicas: 5 },
      { status: aReadyStatus(5), replicas: 5, percent: 100 },
    ],
    want: { routed: "2:100", replicas: "0,1" },
  },
  {
    name: "does not count instances of an earlier spec",
    versions: [
      { status: aReadyStatus(1), replicas: 1, percent: 100 },
      { status: aReadyStatus(1, { observedGeneration: 0 }), replicas: 1 },
    ],
    want: { routed: "1:100", replicas: "1,1", blocked: "Starting" },
  },
  {
    name: "lets a start that failed once try again",
    versions: [
      { status: aReadyStatus(1), replicas: 1, percent: 100 },
      { status: loadError(0), replicas: 1 },
    ],
    want: { routed: "1:100", replicas: "1,1", blocked: "LoadError" },
  },
  {
    name: "gives a start up that failed twice",
    versions: [
      { status: aReadyStatus(1), replicas: 1, percent: 100 },
      { status: loadError(1), replicas: 1 },
    ],
    want: { routed: "1:100", replicas: "1,0" },
  },
  {
    name: "tries a given-up version again after a new write",
    versions: [
      { status: aReadyStatus(1), replicas: 1, percent: 100 },
      { status: loadError(1), replicas: 0 },
    ],
    retry: true,
    want: { routed: "1:100", replicas: "1,1", blocked: "LoadError" },
  },
  {
    name: "never scales a version down that takes calls, however it fails",
    versions: [{ status: loadError(9), replicas: 1, percent: 100 }],
    want: { routed: "1:100", replicas: "1" },
  },
  {
    name: "takes one instance from the old version when the quota has no room",
    versions: [
      { status: aReadyStatus(4), replicas: 4, percent: 100 },
      { status: quota, replicas: 4 },
    ],
    want: { routed: "1:100", replicas: "3,4", blocked: "QuotaSurge" },
  },
  {
    name: "waits for the step before it takes the next",
    versions: [
      { status: aReadyStatus(4), replicas: 3, percent: 100 },
      { status: quota, replicas: 4 },
    ],
    want: { routed: "1:100", replicas: "3,4", blocked: "QuotaSurge" },
  },
  {
    name: "never takes the last instance, and says that the quota has no room",
    versions: [
      { status: aReadyStatus(1), replicas: 1, percent: 100 },
      { status: quota, replicas: 1 },
    ],
    want: { routed: "1:100", replicas: "1,1", blocked: "QuotaExceeded" },
  },
  {
    name: "gives a version that traffic names its instances before it moves",
    versions: [{ replicas: 0 }, { status: aReadyStatus(2), replicas: 2, percent: 100 }],
    spec: { traffic: [{ version: 1, percent: 100 }] },
    want: { routed: "2:100", replicas: "2,2", blocked: "Starting" },
  },
  {
    name: "sizes a split by its shares",
    versions: [{ status: aReadyStatus(10), replicas: 10, percent: 100 }, { replicas: 0 }],
    spec: {
      traffic: [
        { version: 1, percent: 80 },
        { version: 2, percent: 20 },
      ],
    },
    want: { routed: "1:100", replicas: "10,2", blocked: "Starting" },
  },
  {
    name: "runs no instance of a new version that a split leaves out",
    versions: [{ status: aReadyStatus(1), replicas: 1, percent: 100 }, { replicas: 0 }],
    spec: { traffic: [{ version: 1, percent: 100 }] },
    want: { routed: "1:100", replicas: "1,0" },
  },
];

const run = ({ versions: given, spec = {}, acknowledged = true, retry = false }: Case) => {
  const bare = aFunction({ spec });
  const oldestFirst = given.map(({ status, replicas }, index): FunctionVersion => {
    const number = index + 1;
    return aVersion({ of: bare, spec: { version: number, replicas }, ...(status && { status }) });
  });
  const traffic = oldestFirst.flatMap((version, index) => {
    const percent = given[index]?.percent;
    return percent === undefined ? [] : [aTarget(version, percent)];
  });
  const fn = aFunction({ spec, status: { traffic } });
  const versions = [...oldestFirst].reverse();
  const active = activeTargets(fn, versions);
  const wanted = wantedTargets({ fn, versions, active, retry });
  if (isProblem(wanted)) throw new Error(wanted.message);
  const plan = planTraffic({ fn, versions, active, wanted, acknowledged, retry });
  return {
    routed: plan.traffic.map(({ version, percent }) => `${version}:${percent}`).join(),
    replicas: oldestFirst.map(({ metadata }) => plan.replicas.get(metadata.name)).join(),
    ...(plan.blocked && { blocked: plan.blocked.reason }),
  };
};

describe("planTraffic", () => {
  it.each(CASES)("$name", (row) => expect(run(row)).toEqual(row.want));
});
