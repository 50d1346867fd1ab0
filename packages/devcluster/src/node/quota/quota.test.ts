import { beforeEach, describe, expect, it } from "@jest/globals";
import { openClusterStore } from "../../apiserver/open-cluster-store.js";
import type { ResourceRef } from "../../store/types.js";
import type { ServedStore } from "../../apiserver/served-store.js";
import { CONFIG_MAPS, JOBS, PODS, RESOURCE_QUOTAS, SECRETS } from "../objects.js";
import { formatQuantity, parseQuantity } from "../quantity.js";
import { createAdmittingStore } from "./admitting-store.js";

let store: ServedStore;
beforeEach(() => {
  store = createAdmittingStore(openClusterStore());
});

const setQuota = (hard: Record<string, string>, spec: object = {}): void => {
  const metadata = { name: "tenant", namespace: "default" };
  store.create(RESOURCE_QUOTAS, { apiVersion: "v1", kind: "ResourceQuota", metadata, spec: { hard, ...spec } });
};
const createPod = (name: string, resources: object = {}) =>
  store.create(PODS, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default" },
    spec: { containers: [{ name: "main", image: "r.example/i:v1", resources }] },
  });
const createOf =
  (type: ResourceRef, apiVersion: string, kind: string, spec: object = {}) =>
  (name: string) =>
    store.create(type, { apiVersion, kind, metadata: { name, namespace: "default" }, ...spec });

describe("security 10: a quota refuses, in Kubernetes' words,", () => {
  it("pods beyond a number, those that are over not counted", () => {
    setQuota({ pods: "1" });
    const first = createPod("a");
    expect(() => createPod("b")).toThrow(
      'pods "b" is forbidden: exceeded quota: tenant, requested: pods=1, used: pods=1, limited: pods=1',
    );
    store.update(PODS, { ...first, status: { phase: "Succeeded" } }, { subresource: "status" });
    expect(createPod("b").kind).toBe("Pod");
  });

  it("memory and cpu beyond a sum, naming all that is exceeded", () => {
    setQuota({ "limits.memory": "256Mi", "requests.cpu": "500m" });
    createPod("a", { limits: { memory: "128Mi" }, requests: { cpu: "250m" } });
    expect(() => createPod("b", { limits: { memory: "200Mi", cpu: "1" } })).toThrow(
      "exceeded quota: tenant, requested: limits.memory=200Mi,requests.cpu=1, used: limits.memory=128Mi,requests.cpu=250m, limited: limits.memory=256Mi,requests.cpu=500m",
    );
  });

  it("containers that do not say what they need", () => {
    setQuota({ "limits.memory": "256Mi" });
    expect(() => createPod("a")).toThrow("failed quota: tenant: must specify limits.memory for: main");
  });

  const job = {
    spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "r.example/i:v1" }] } } },
  };
  it.each([
    ["secrets", createOf(SECRETS, "v1", "Secret")],
    ["count/configmaps", createOf(CONFIG_MAPS, "v1", "ConfigMap")],
    ["count/jobs.batch", createOf(JOBS, "batch/v1", "Job", job)],
  ])("objects beyond a number: %s", (resource, create) => {
    setQuota({ [resource]: "1" });
    create("a");
    expect(() => create("b")).toThrow(
      `exceeded quota: tenant, requested: ${resource}=1, used: ${resource}=1, limited: ${resource}=1`,
    );
  });

  it("nothing that it does not bound", () => {
    setQuota({ pods: "0" }, { scopes: ["Terminating"] });
    expect(createPod("a").kind).toBe("Pod");
  });
});

describe("quantities", () => {
  it.each([
    ["500m", 0.5],
    ["2", 2],
    ["1.5Gi", 1.5 * 1024 ** 3],
    ["128Mi", 128 * 1024 ** 2],
    ["1e3", 1000],
    ["10k", 10_000],
    [3, 3],
  ])("reads %s", (text, value) => expect(parseQuantity(text)).toBe(value));
  it.each(["", "1 Mi", "Mi", "1mi", "0x10", "1e999", "1".repeat(40)])("refuses %j", (text) => {
    expect(() => parseQuantity(text)).toThrow(RangeError);
  });
  it.each([
    [0.25, "cpu", "250m"],
    [2, "cpu", "2"],
    [256 * 1024 ** 2, "memory", "256Mi"],
    [1000, "memory", "1000"],
    [7, "count", "7"],
  ] as const)("writes %d %s as %s", (value, unit, text) => expect(formatQuantity(value, unit)).toBe(text));
});
