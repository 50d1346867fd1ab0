import { spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { configMaps, leases, type ConfigMap } from "./resources.js";
import { eventually } from "./testing/eventually.js";
import { startFakeApiServer, type FakeApiServer } from "./testing/fake-api-server.js";
import { createFakeKubeClient, type FakeKubeClient } from "./testing/fake-client.js";

const CONTENDER = fileURLToPath(new URL("../dist/testing/fixtures/contender.js", import.meta.url));
/** Long enough that a busy machine does not lose a lease by itself. */
const LEASE_MS = 5_000;
const TIMING = [LEASE_MS, 4_000, 500].map(String);

interface Contender {
  identity: string;
  process: ChildProcess;
  exited: Promise<number | null>;
}

/** A write as the API server received it, leases left out. */
interface AuditEntry {
  identity: string;
  path: string;
  at: number;
}

let client: FakeKubeClient;
let server: FakeApiServer;
let audit: AuditEntry[];
let contenders: Contender[];

const start = (identity: string): Contender => {
  const child = spawn(process.execPath, [CONTENDER, server.url, identity, ...TIMING], { stdio: "inherit" });
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const contender = { identity, process: child, exited };
  contenders.push(contender);
  return contender;
};

const writesOf = ({ identity }: Contender): AuditEntry[] => audit.filter((entry) => entry.identity === identity);
const leads = (contender: Contender): Promise<void> =>
  eventually(`${contender.identity} writes`, () => writesOf(contender).length > 0, 15_000);
const input = (name: string, kind: string, data: Record<string, string>): ConfigMap => ({
  metadata: { namespace: "n", name, labels: { input: kind } },
  data,
});
const childOf = (name: string): ConfigMap | undefined =>
  client.objects(configMaps).find(({ metadata }) => metadata.name === `child-of-${name}`);

beforeEach(async () => {
  if (!existsSync(CONTENDER)) throw new Error("dist is missing: run `pnpm --filter @sless/kube build` first");
  client = createFakeKubeClient();
  audit = [];
  contenders = [];
  server = await startFakeApiServer(client, [configMaps, leases], ({ path, query }) => {
    if (path.includes("/leases")) return;
    audit.push({ identity: query.get("fieldManager") ?? "unknown", path, at: performance.now() });
  });
});

afterEach(async () => {
  for (const { process: child } of contenders) child.kill("SIGKILL");
  await Promise.all(contenders.map(({ exited }) => exited));
  await server.close();
});

describe("D32: two controller replicas", () => {
  it("a stalled leader writes nothing after it wakes, and exits; a job runs once", async () => {
    const stalled = start("stalled");
    await leads(stalled);
    client.seed(configMaps, input("fn", "function", { rev: "1" }));
    await eventually("the function's child is there", () => childOf("fn")?.data?.["rev"] === "1");
    const successor = start("successor");

    stalled.process.kill("SIGSTOP");
    await client.mergePatch(configMaps, { namespace: "n", name: "fn" }, { data: { rev: "2" } });
    client.seed(configMaps, input("job", "job", {}));
    await leads(successor);
    await eventually("the edit and the job are done", () => childOf("fn")?.data?.["rev"] === "2" && !!childOf("job"));

    const firstOfSuccessor = writesOf(successor)[0]?.at ?? 0;
    const beats = writesOf(successor).length;
    stalled.process.kill("SIGCONT");
    expect(await stalled.exited).toBe(3);
    await eventually("the successor goes on", () => writesOf(successor).length > beats + 10);

    expect(writesOf(stalled).filter(({ at }) => at >= firstOfSuccessor)).toEqual([]);
    expect(client.writes.filter(({ verb, key }) => verb === "create" && key === "n/child-of-job")).toHaveLength(1);
  }, 40_000);

  it("after a clean exit the other takes over long before the lease would run out", async () => {
    const first = start("first");
    await leads(first);
    const second = start("second");
    await eventually("the second knows the lease", () => second.process.exitCode === null);
    first.process.kill("SIGTERM");
    expect(await first.exited).toBe(0);
    const released = performance.now();
    await leads(second);
    expect((writesOf(second)[0]?.at ?? Infinity) - released).toBeLessThan(LEASE_MS / 2);
    expect(writesOf(first).every(({ at }) => at <= released)).toBe(true);
  }, 40_000);
});
