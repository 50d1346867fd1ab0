import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { KubeObject, ResourceRef } from "../../store/types.js";
import { createEventRecorder } from "../kubelet/events.js";
import {
  conditionOf,
  DEPLOYMENTS,
  ENDPOINT_SLICES,
  JOBS,
  PODS,
  REPLICA_SETS,
  RESOURCE_QUOTAS,
  SERVICES,
  type Container,
  type Deployment,
  type Job,
  type Pod,
  type ReplicaSet,
} from "../objects.js";
import { startNodeFixture, untilObject, type NodeFixture } from "../testing/node-fixture.js";
import type { Controller } from "./controller.js";
import { startControllers } from "./controllers.js";

let node: NodeFixture;
let controllers: Controller;
const errors: unknown[] = [];

beforeAll(async () => {
  node = await startNodeFixture();
  const { store } = node;
  const onError = (...error: unknown[]) => errors.push(error);
  const events = createEventRecorder(store, "controllers");
  controllers = startControllers({ store, events, nodeName: "localhost", onError }, { baseMs: 20, maxMs: 100 });
});
afterAll(async () => {
  await controllers.close();
  await node.stop();
});

const env = (vars: Record<string, string>) => Object.entries(vars).map(([name, value]) => ({ name, value }));
const readinessProbe = { httpGet: { path: "/ready", port: "call" }, periodSeconds: 1 };
const container = (more: Partial<Container> = {}): Container => ({
  name: "function",
  image: node.image,
  ports: [
    { name: "call", containerPort: 8080 },
    { name: "control", containerPort: 8081 },
  ],
  readinessProbe,
  ...more,
});
const meta = (name: string, namespace = "default") => ({ name, namespace, labels: { app: name } });
interface DeploymentInput {
  replicas?: number;
  container?: Partial<Container>;
  spec?: object;
  namespace?: string;
}
const createDeployment = (name: string, input: DeploymentInput = {}): Deployment =>
  node.store.create(DEPLOYMENTS, {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: meta(name, input.namespace),
    spec: {
      replicas: input.replicas ?? 1,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [container(input.container)], terminationGracePeriodSeconds: 2 },
      },
      ...input.spec,
    },
  }) as Deployment;
const createService = (name: string, ports: object[] = [{ name: "call", port: 8080 }]) =>
  node.store.create(SERVICES, {
    apiVersion: "v1",
    kind: "Service",
    metadata: meta(name),
    spec: { clusterIP: "None", selector: { app: name }, ports },
  });

const until = <T extends KubeObject>(
  type: ResourceRef,
  name: string,
  condition: (object: T | undefined) => boolean,
  namespace = "default",
) => untilObject<T>(node.store, { type, name, namespace }, condition);
const untilDeployment = (name: string, condition: (d: Deployment) => boolean, namespace = "default") =>
  until<Deployment>(DEPLOYMENTS, name, (d) => d !== undefined && condition(d), namespace);
const isRolledOut = (d: Deployment): boolean =>
  d.status?.observedGeneration === d.metadata.generation &&
  conditionOf(d.status?.conditions, "Progressing")?.reason === "NewReplicaSetAvailable";
const podsOf = (name: string, namespace = "default"): Pod[] =>
  node.store.list(PODS, { namespace, labelSelector: `app=${name}` }).items as Pod[];
const setsOf = (name: string): ReplicaSet[] =>
  node.store.list(REPLICA_SETS, { namespace: "default", labelSelector: `app=${name}` }).items as ReplicaSet[];
const patchTemplate = (name: string, vars: Record<string, string>): void => {
  const deployment = structuredClone(node.store.get(DEPLOYMENTS, "default", name)) as Deployment;
  const [first] = deployment.spec.template.spec.containers;
  if (first) first.env = env(vars);
  node.store.update(DEPLOYMENTS, deployment);
};
interface Endpoint {
  addresses: string[];
  conditions: { ready: boolean; serving: boolean; terminating: boolean };
  targetRef: { name: string; uid: string };
}
const slicesOf = (name: string) =>
  node.store.list(ENDPOINT_SLICES, { namespace: "default", labelSelector: `kubernetes.io/service-name=${name}` }).items;
const endpointsOf = (name: string): Endpoint[] => slicesOf(name).flatMap((slice) => slice["endpoints"] as Endpoint[]);
const untilEndpoints = (name: string, condition: (endpoints: Endpoint[]) => boolean): Promise<void> =>
  new Promise((resolve, reject) => {
    const end = (settle: () => void) => (clearTimeout(timer), unwatch(), settle());
    const timer = setTimeout(() => end(() => reject(new Error(JSON.stringify(endpointsOf(name))))), 8000);
    const check = () => condition(endpointsOf(name)) && end(resolve);
    const unwatch = node.store.watch(ENDPOINT_SLICES, {}, check);
    setImmediate(check);
  });

describe("a Deployment", () => {
  it("becomes available, with counts and conditions of the present generation", async () => {
    createDeployment("web", { replicas: 2 });
    const { status, metadata } = await untilDeployment("web", isRolledOut);
    expect(status).toMatchObject({ replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 });
    expect(conditionOf(status?.conditions, "Available")).toMatchObject({
      status: "True",
      reason: "MinimumReplicasAvailable",
    });
    expect(metadata.annotations?.["deployment.kubernetes.io/revision"]).toBe("1");
    expect(status?.unavailableReplicas).toBeUndefined();
  });

  it("puts a deleted pod back", async () => {
    createDeployment("heals");
    await untilDeployment("heals", isRolledOut);
    const [pod] = podsOf("heals");
    node.store.delete(PODS, "default", pod?.metadata.name ?? "", { gracePeriodSeconds: 0 });
    await untilDeployment("heals", (d) => d.status?.readyReplicas !== 1);
    await untilDeployment("heals", (d) => d.status?.readyReplicas === 1);
    expect(podsOf("heals").map(({ metadata }) => metadata.uid)).not.toContain(pod?.metadata.uid);
  });

  it("rolls an update out without falling below what was available, and back to an old revision", async () => {
    createDeployment("rolls", {
      replicas: 2,
      spec: { strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } },
    });
    await untilDeployment("rolls", isRolledOut);
    let fewest = Infinity;
    const unwatch = node.store.watch(DEPLOYMENTS, { resourceVersion: node.store.resourceVersion() }, ({ object }) => {
      if (object.metadata.name === "rolls")
        fewest = Math.min(fewest, (object as Deployment).status?.availableReplicas ?? 0);
    });
    patchTemplate("rolls", { V: "2" });
    await untilDeployment("rolls", (d) => isRolledOut(d) && d.metadata.generation === 2);
    unwatch();
    expect(fewest).toBe(2);
    expect(
      setsOf("rolls")
        .map((set) => [set.spec.replicas, set.metadata.annotations?.["deployment.kubernetes.io/revision"]])
        .sort(),
    ).toEqual([
      [0, "1"],
      [2, "2"],
    ]);
    const deployment = structuredClone(node.store.get(DEPLOYMENTS, "default", "rolls")) as Deployment;
    delete deployment.spec.template.spec.containers[0]?.env;
    node.store.update(DEPLOYMENTS, deployment);
    const back = await untilDeployment("rolls", (d) => isRolledOut(d) && d.metadata.generation === 3);
    expect(back.metadata.annotations?.["deployment.kubernetes.io/revision"]).toBe("3");
    expect(setsOf("rolls")).toHaveLength(2);
  });

  it("keeps the old pods when the new ones do not start, and says so after its deadline", async () => {
    createDeployment("stuck", {
      spec: { progressDeadlineSeconds: 1, strategy: { rollingUpdate: { maxUnavailable: 0 } } },
    });
    await untilDeployment("stuck", isRolledOut);
    patchTemplate("stuck", { MODE: "exit" });
    const { status } = await untilDeployment(
      "stuck",
      (d) => conditionOf(d.status?.conditions, "Progressing")?.status === "False",
    );
    expect(conditionOf(status?.conditions, "Progressing")).toMatchObject({
      reason: "ProgressDeadlineExceeded",
      message: expect.stringMatching(/^ReplicaSet "stuck-\w+" has timed out progressing\.$/),
    });
    expect(status).toMatchObject({ readyReplicas: 1, updatedReplicas: 1, unavailableReplicas: 1 });
  });

  it("with Recreate never runs old and new side by side", async () => {
    createDeployment("again", { spec: { strategy: { type: "Recreate" } } });
    await untilDeployment("again", isRolledOut);
    let most = 0;
    const unwatch = node.store.watch(PODS, {}, () => (most = Math.max(most, podsOf("again").length)));
    patchTemplate("again", { V: "2" });
    await untilDeployment("again", (d) => isRolledOut(d) && d.metadata.generation === 2);
    unwatch();
    expect(most).toBe(1);
  });

  it("D26: writes nothing while nothing changes", async () => {
    await untilDeployment("web", isRolledOut);
    const before = node.store.get(DEPLOYMENTS, "default", "web")?.metadata.resourceVersion;
    const touched = structuredClone(node.store.get(DEPLOYMENTS, "default", "web")) as Deployment;
    touched.metadata.annotations = { ...touched.metadata.annotations, foreign: "yes" };
    const { metadata } = node.store.update(DEPLOYMENTS, touched);
    expect(metadata.resourceVersion).not.toBe(before);
    createDeployment("other");
    await untilDeployment("other", isRolledOut);
    expect(node.store.get(DEPLOYMENTS, "default", "web")?.metadata.resourceVersion).toBe(metadata.resourceVersion);
  });
});

describe("a ResourceQuota", () => {
  const createQuota = (namespace: string, hard: Record<string, string>) => {
    node.store.create(
      { group: "", plural: "namespaces" },
      { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    );
    return node.store.create(RESOURCE_QUOTAS, {
      apiVersion: "v1",
      kind: "ResourceQuota",
      metadata: { name: "tenant", namespace },
      spec: { hard },
    });
  };
  const failureOf = (d: Deployment) => conditionOf(d.status?.conditions, "ReplicaFailure");

  it("D27: refuses pods with figures, reaches the Deployment, and lets them in when it is raised", async () => {
    const quota = createQuota("quota-a", { pods: "1" });
    createDeployment("wants", { replicas: 2, namespace: "quota-a" });
    const { status } = await untilDeployment("wants", (d) => failureOf(d) !== undefined, "quota-a");
    expect(conditionOf(status?.conditions, "ReplicaFailure")).toMatchObject({
      status: "True",
      reason: "FailedCreate",
      message: expect.stringMatching(
        /^pods "wants-\w+-\w+" is forbidden: exceeded quota: tenant, requested: pods=1, used: pods=1, limited: pods=1$/,
      ),
    });
    const used = await until<KubeObject>(
      RESOURCE_QUOTAS,
      "tenant",
      (q) => (q?.["status"] as { used?: { pods?: string } })?.used?.pods === "1",
      "quota-a",
    );
    node.store.update(RESOURCE_QUOTAS, { ...used, spec: { hard: { pods: "2" } } });
    await untilDeployment("wants", (d) => d.status?.readyReplicas === 2 && failureOf(d) === undefined, "quota-a");
    expect(quota.kind).toBe("ResourceQuota");
  });

  it("D27: names what a container does not say when memory is bounded", async () => {
    createQuota("quota-b", { "limits.memory": "256Mi" });
    createDeployment("silent", { namespace: "quota-b" });
    const { status } = await untilDeployment("silent", (d) => failureOf(d) !== undefined, "quota-b");
    expect(conditionOf(status?.conditions, "ReplicaFailure")?.message).toMatch(
      /failed quota: tenant: must specify limits.memory for: function$/,
    );
    createDeployment("large", { namespace: "quota-b", container: { resources: { limits: { memory: "300Mi" } } } });
    const large = await untilDeployment("large", (d) => failureOf(d) !== undefined, "quota-b");
    expect(failureOf(large)?.message).toMatch(
      /requested: limits.memory=300Mi, used: limits.memory=0, limited: limits.memory=256Mi$/,
    );
  });
});

describe("EndpointSlices", () => {
  it("name ready pods with address, ports and uid, under the service's labels", async () => {
    createService("slices", [
      { name: "call", port: 8080 },
      { name: "control", port: 80, targetPort: "control" },
    ]);
    createDeployment("slices");
    await untilEndpoints("slices", ([endpoint]) => endpoint?.conditions.ready === true);
    const [slice] = slicesOf("slices");
    const [pod] = podsOf("slices");
    expect(slice?.metadata.labels).toMatchObject({
      app: "slices",
      "kubernetes.io/service-name": "slices",
      "service.kubernetes.io/headless": "",
    });
    expect(slice?.["ports"]).toEqual([
      { name: "call", port: 8080, protocol: "TCP" },
      { name: "control", port: 8081, protocol: "TCP" },
    ]);
    expect(endpointsOf("slices")).toMatchObject([
      {
        addresses: [pod?.status?.podIP],
        conditions: { ready: true, serving: true, terminating: false },
        targetRef: { kind: "Pod", name: pod?.metadata.name, uid: pod?.metadata.uid },
      },
    ]);
  });

  it("show a pod that starts as not ready, one that ends as terminating, and drop it when it is gone", async () => {
    createService("phases");
    const [first] = [createDeployment("phases", { container: { env: env({ START_DELAY: "300" }) } })];
    await untilEndpoints("phases", ([endpoint]) => endpoint?.conditions.ready === false);
    await untilEndpoints("phases", ([endpoint]) => endpoint?.conditions.ready === true);
    const seen: string[] = [];
    const unwatch = node.store.watch(ENDPOINT_SLICES, { resourceVersion: node.store.resourceVersion() }, () => {
      const [endpoint] = endpointsOf("phases");
      if (endpoint) seen.push(endpoint.conditions.terminating ? "terminating" : "serving");
    });
    node.store.update(DEPLOYMENTS, {
      ...(node.store.get(DEPLOYMENTS, "default", "phases") ?? first),
      spec: { ...first.spec, replicas: 0 },
    });
    await untilEndpoints("phases", (endpoints) => endpoints.length === 0);
    unwatch();
    expect(seen).toContain("terminating");
  });
});

describe("a Job", () => {
  const createJob = (name: string, vars: Record<string, string>, spec: object = {}) =>
    node.store.create(JOBS, {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: meta(name),
      spec: {
        template: {
          metadata: { labels: { app: name } },
          spec: {
            restartPolicy: "Never",
            terminationGracePeriodSeconds: 1,
            containers: [{ name: "main", image: node.image, env: env(vars) }],
          },
        },
        ...spec,
      },
    });
  const untilJob = (name: string, type: string) =>
    until<Job>(JOBS, name, (job) => conditionOf(job?.status?.conditions, type)?.status === "True");

  it("completes by its first success", async () => {
    createJob("once", { MODE: "exit", EXIT_CODE: "0" });
    const { status } = await untilJob("once", "Complete");
    expect(status).toMatchObject({ succeeded: 1, startTime: expect.any(String), completionTime: expect.any(String) });
    expect(status?.active).toBeUndefined();
    expect(podsOf("once")).toHaveLength(1);
    expect(podsOf("once")[0]?.metadata.labels).toMatchObject({ "job-name": "once" });
  });

  it("fails after its attempts", async () => {
    createJob("tries", { MODE: "exit" }, { backoffLimit: 2 });
    const { status } = await untilJob("tries", "Failed");
    expect(status).toMatchObject({ failed: 3, conditions: [{ reason: "BackoffLimitExceeded" }] });
    expect(podsOf("tries")).toHaveLength(3);
  });

  it("is stopped at its deadline", async () => {
    createJob("late", {}, { activeDeadlineSeconds: 1 });
    const { status } = await untilJob("late", "Failed");
    expect(status?.conditions).toMatchObject([
      { reason: "DeadlineExceeded", message: "Job was active longer than specified deadline" },
    ]);
    await untilGone("late");
  });

  it("goes when its time to live has passed", async () => {
    createJob("brief", { MODE: "exit", EXIT_CODE: "0" }, { ttlSecondsAfterFinished: 1 });
    await untilJob("brief", "Complete");
    await until(JOBS, "brief", (job) => job === undefined || job.metadata.deletionTimestamp !== undefined);
  });

  it("says that it runs one pod at a time only", async () => {
    createJob("wide", {}, { completions: 3, parallelism: 3 });
    const { status } = await untilJob("wide", "Failed");
    expect(status?.conditions?.[0]?.message).toMatch(/completions 1 and parallelism 1 only/);
  });

  const untilGone = (app: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`pods of ${app} are left`)), 8000);
      const unwatch = node.store.watch(PODS, {}, () => check());
      const check = () => {
        if (podsOf(app).length > 0) return;
        clearTimeout(timer);
        unwatch();
        resolve();
      };
      setImmediate(check);
    });
});

it("no controller met an error of its own", () => {
  expect(errors).toEqual([]);
});
