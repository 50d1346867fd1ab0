import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "@jest/globals";
import { startControllers } from "../controllers/controllers.js";
import type { Controller } from "../controllers/controller.js";
import { ENDPOINT_SLICES, PODS, SERVICES, type Pod } from "../objects.js";
import { isReady, mainStatus, startNodeFixture, untilObject, type NodeFixture } from "../testing/node-fixture.js";
import { createAddressPool } from "./addresses.js";
import { createEventRecorder } from "./events.js";
import { startKubelet, type Kubelet } from "./kubelet.js";

let node: NodeFixture | undefined;
let controllers: Controller | undefined;
let second: Kubelet | undefined;
afterEach(async () => {
  await controllers?.close();
  await second?.stop(500);
  await node?.stop();
  node = controllers = second = undefined;
});

const ports = [
  { name: "call", containerPort: 8080 },
  { name: "control", containerPort: 8081 },
];

describe("a system with one loopback address", () => {
  it("gives each pod ports of its own, told to the process, its probes and the EndpointSlices", async () => {
    const fixture = (node = await startNodeFixture({ singleAddress: true }));
    const { store } = fixture;
    const events = createEventRecorder(store, "controllers");
    controllers = startControllers({ store, events, nodeName: "localhost", onError: () => undefined });
    const meta = { name: "two", namespace: "default" };
    store.create(SERVICES, {
      apiVersion: "v1",
      kind: "Service",
      metadata: meta,
      spec: { clusterIP: "None", selector: { app: "two" }, ports: [{ name: "call", port: 8080 }] },
    });
    for (const name of ["one", "two"]) {
      const pod = fixture.createPod(name, { ports, readinessProbe: { httpGet: { path: "/ready", port: "call" } } });
      store.update(PODS, {
        ...(store.get(PODS, "default", name) ?? pod),
        metadata: { ...(store.get(PODS, "default", name) ?? pod).metadata, labels: { app: "two" } },
      });
    }
    const ready = await Promise.all(["one", "two"].map((name) => fixture.untilPod(name, isReady)));
    expect(ready.map((pod) => pod.status?.podIP)).toEqual(["127.0.0.1", "127.0.0.1"]);
    interface Slice {
      ports: { port: number }[];
      endpoints: { addresses: string[]; conditions: { ready: boolean }; targetRef: { name: string } }[];
    }
    const slices = () => store.list(ENDPOINT_SLICES, { namespace: "default" }).items as unknown as Slice[];
    const readySlices = () => slices().filter(({ endpoints }) => endpoints.some(({ conditions }) => conditions.ready));
    await untilObject(store, { type: PODS, name: "one" }, () => readySlices().length === 2, 5000).catch(
      () => undefined,
    );
    const told = readySlices();
    expect(new Set(told.map(({ ports: [port] }) => port?.port)).size).toBe(2);
    for (const {
      ports: [port],
      endpoints: [endpoint],
    } of told) {
      const answer = await fetch(`http://${endpoint?.addresses[0]}:${port?.port}/`);
      const { env } = (await answer.json()) as { env: Record<string, string> };
      expect(env).toMatchObject({ SLESS_PORT: String(port?.port), HOSTNAME: endpoint?.targetRef.name });
      expect(env["SLESS_CONTROL_PORT"]).not.toBe("8081");
    }
  });
});

describe("addresses of pods", () => {
  it("differ between pods and between devclusters, and come back into use late", async () => {
    const [a, b] = await Promise.all([createAddressPool(), createAddressPool()]);
    const first = await a.allocate([]);
    const others = await Promise.all([a.allocate([]), b.allocate([])]);
    expect(new Set([first, ...others].map(({ ip }) => ip)).size).toBe(3);
    expect(first.ip.split(".")[1]).not.toBe(others[1].ip.split(".")[1]);
    a.release(first);
    expect((await a.allocate([])).ip).not.toBe(first.ip);
    await Promise.all([a.close(), b.close()]);
  });
});

describe("after a restart of the node", () => {
  const restart = async (first: NodeFixture): Promise<void> => {
    await first.kubelet.stop(500);
    const { store, dataDir, registry } = first;
    second = await startKubelet({ store, dataDir, registryLogins: { [registry.host]: registry.credentials } });
  };
  /** As a node that was killed leaves it: the status still says that the process runs. */
  const forgetEnd = (first: NodeFixture, name: string, running: Pod): void => {
    const pod = first.pod(name);
    first.store.update(PODS, { ...pod, status: running.status }, { subresource: "status" });
  };

  it("a pod is started again, which its status counts; its old folders stay its own", async () => {
    node = await startNodeFixture();
    node.createPod("resumes", { ports });
    const before = await node.untilPod("resumes", isReady);
    await mkdir(join(node.dataDir, "node", "pods", "stray"));
    await node.kubelet.stop(500);
    forgetEnd(node, "resumes", before);
    await restart(node);
    const after = await node.untilPod("resumes", (pod) => isReady(pod) && mainStatus(pod)?.restartCount === 1);
    expect(mainStatus(after)?.lastState.terminated?.reason).toBe("ContainerStatusUnknown");
    expect(await readdir(join(node.dataDir, "node", "pods"))).toEqual([after.metadata.uid]);
  });

  it("a pod that must run once is not run a second time: it counts as failed", async () => {
    node = await startNodeFixture();
    node.createPod("once", { ports }, { restartPolicy: "Never" });
    const before = await node.untilPod("once", isReady);
    await node.kubelet.stop(500);
    forgetEnd(node, "once", before);
    await restart(node);
    const after = await node.untilPod("once", (pod) => pod?.status?.phase === "Failed");
    expect(mainStatus(after)?.state.terminated).toMatchObject({ exitCode: 137, reason: "ContainerStatusUnknown" });
  });

  it("a pod that was deleted meanwhile goes", async () => {
    node = await startNodeFixture();
    node.createPod("deleted", { ports });
    await node.untilPod("deleted", isReady);
    await node.kubelet.stop(500);
    node.store.delete(PODS, "default", "deleted");
    expect(node.pod("deleted").metadata.deletionTimestamp).toBeDefined();
    await restart(node);
    await node.untilPod("deleted", (pod) => pod === undefined);
  });
});
