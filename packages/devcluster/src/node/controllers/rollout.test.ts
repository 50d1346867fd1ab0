import { describe, expect, it } from "@jest/globals";
import type { Deployment, ReplicaSet } from "../objects.js";
import { planRecreate, planRollingUpdate, rollingBounds } from "./rollout.js";

const template = { spec: { containers: [] } };
const aDeployment = (replicas: number, rollingUpdate = {}): Deployment => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "d" },
  spec: { replicas, selector: {}, template, strategy: { rollingUpdate } },
});
const aSet = (name: string, replicas: number, availableReplicas = replicas): ReplicaSet => ({
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  metadata: { name },
  spec: { replicas, selector: {}, template },
  status: { replicas, availableReplicas },
});

describe("bounds of a rolling update", () => {
  it.each([
    { name: "defaults of 4", replicas: 4, update: {}, surge: 1, unavailable: 1 },
    { name: "defaults of 1", replicas: 1, update: {}, surge: 1, unavailable: 0 },
    { name: "per cent", replicas: 10, update: { maxSurge: "15%", maxUnavailable: "15%" }, surge: 2, unavailable: 1 },
    { name: "both zero", replicas: 3, update: { maxSurge: 0, maxUnavailable: 0 }, surge: 0, unavailable: 1 },
  ])("$name", ({ replicas, update, surge, unavailable }) => {
    expect(rollingBounds(aDeployment(replicas, update))).toEqual({ surge, unavailable });
  });
});

describe("the next step", () => {
  const surgeOnly = { maxSurge: 1, maxUnavailable: 0 };
  it.each([
    { name: "starts a new set", d: aDeployment(3), next: aSet("new", 0), old: [], want: { new: 3 } },
    {
      name: "surges by one",
      d: aDeployment(3, surgeOnly),
      next: aSet("new", 0),
      old: [aSet("a", 3)],
      want: { new: 1 },
    },
    {
      name: "waits for the new pod",
      d: aDeployment(3, surgeOnly),
      next: aSet("new", 1, 0),
      old: [aSet("a", 3)],
      want: {},
    },
    {
      name: "then takes an old one",
      d: aDeployment(3, surgeOnly),
      next: aSet("new", 1),
      old: [aSet("a", 3)],
      want: { a: 2 },
    },
    {
      name: "drops what does not serve first",
      d: aDeployment(2, surgeOnly),
      next: aSet("new", 1, 0),
      old: [aSet("broken", 1, 0), aSet("good", 2)],
      want: { broken: 0 },
    },
    { name: "scales down with the deployment", d: aDeployment(1), next: aSet("new", 3), old: [], want: { new: 1 } },
    { name: "does nothing when done", d: aDeployment(3), next: aSet("new", 3), old: [aSet("a", 0)], want: {} },
  ])("$name", ({ d, next, old, want }) => {
    const plan = planRollingUpdate(d, next, old);
    expect(Object.fromEntries([...plan].map(([set, replicas]) => [set.metadata.name, replicas]))).toEqual(want);
  });

  it("of Recreate: down, wait, up", () => {
    const next = aSet("new", 0);
    const old = aSet("old", 2);
    const d = aDeployment(2);
    expect(planRecreate(d, next, { old: [old], oldPodsLeft: true })).toEqual(new Map([[old, 0]]));
    expect(planRecreate(d, next, { old: [aSet("old", 0)], oldPodsLeft: true })).toEqual(new Map());
    expect(planRecreate(d, next, { old: [aSet("old", 0)], oldPodsLeft: false })).toEqual(new Map([[next, 2]]));
  });
});
