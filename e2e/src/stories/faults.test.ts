import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { eventually } from "../harness/eventually.js";
import { deploy, nodeFiles } from "../harness/functions.js";
import { call } from "../harness/http.js";
import { startPlatform, type Tenant, type TestPlatform } from "../harness/platform.js";

const HANDLER = `
const routes = {
  "/memory": () => { const held = []; for (;;) held.push(Buffer.alloc(8 << 20, 1)); },
  "/sleep": () => new Promise((resolve) => setTimeout(resolve, 60_000)),
  "/loop": () => { for (;;); },
  "/exit": () => process.exit(7),
  "/throw": () => { throw new TypeError("not today"); },
  "/cycle": () => { const a = {}; a.a = a; return a; },
  "/late": () => { setTimeout(() => { throw new Error("late"); }, 20); return "in time"; },
};
export const handler = ({ path }) => routes[path]?.() ?? "fine";`;

let platform: TestPlatform;
let tenant: Tenant;
let url: string;
beforeAll(async () => {
  platform = await startPlatform();
  tenant = platform.tenant("faults");
  url = await deploy(tenant, "faulty", nodeFiles(HANDLER), { timeout_sec: 2, memory_mb: 128 });
});
afterAll(() => platform.stop());

const fine = () => eventually("the next call is answered", 10_000, async () => (await call(url)).text === "fine");

interface Fault {
  readonly name: string;
  readonly path: string;
  readonly status: number;
  readonly fault: string;
  readonly says: RegExp;
}

const FAULTS: readonly Fault[] = [
  { name: "R37: out of memory", path: "/memory", status: 502, fault: "out-of-memory", says: /128/ },
  { name: "R25: past its timeout", path: "/sleep", status: 504, fault: "timeout", says: /2/ },
  { name: "R26: a loop without end", path: "/loop", status: 504, fault: "timeout", says: /2/ },
  { name: "an exit", path: "/exit", status: 502, fault: "exited", says: /7/ },
  { name: "an exception", path: "/throw", status: 502, fault: "handler-error", says: /not today/ },
  { name: "R08: a result that is no JSON", path: "/cycle", status: 502, fault: "bad-result", says: /./ },
];

describe("a function that fails", () => {
  it.each(FAULTS)("$name: $status with its reason, by trigger and by invoke, and the next call works", async (c) => {
    await fine();
    const answer = await call(url, { target: c.path });
    expect(answer.status).toBe(c.status);
    expect(answer.headers["x-sless-fault"]).toBe(c.fault);
    expect(answer.headers["x-sless-fault-source"]).toBe("function");
    expect(answer.headers["content-type"]).toContain("application/problem+json");
    expect(answer.json()["detail"]).toMatch(c.says);
    expect(answer.text).not.toContain(platform.dataDir);
    await fine();
    const invoked = await tenant.client.functions.invoke("faulty", { path: c.path });
    await invoked.body.dump();
    expect([invoked.statusCode, invoked.headers["x-sless-fault"]]).toEqual([c.status, c.fault]);
    await fine();
  });

  it("after its answer spoils no answer", async () => {
    await fine();
    expect((await call(url, { target: "/late" })).text).toBe("in time");
    await fine();
  });

  it("goes on being Ready: the fault is a call's, not the version's", async () => {
    await fine();
    const { value } = await tenant.client.functions.wait("faulty", { until: "ready", timeout: 15 });
    expect(value?.status.phase).toBe("Ready");
  });
});
