import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../harness/eventually.js";
import { answering, deploy } from "../harness/functions.js";
import { call } from "../harness/http.js";
import { makeTemporaryFolder, startPlatform } from "../harness/platform.js";
import { processesOf } from "../harness/processes.js";
import { startSless, type SlessResult } from "../harness/sless.js";

let dataDir: string;
beforeEach(() => {
  dataDir = makeTemporaryFolder();
});
afterEach(() => {
  for (const { pid } of processesOf(dataDir)) process.kill(pid, "SIGKILL");
  rmSync(dataDir, { recursive: true, force: true });
});

const env = () => ({ XDG_CONFIG_HOME: join(dataDir, "config") });
const up = (...args: string[]) =>
  startSless(["up", "--data-dir", dataDir, "--api-port", "0", "--port", "0", ...args], { env: env() });
const urlIn = ({ stderr }: SlessResult): string | undefined => /GET (http:\S+)/.exec(stderr)?.[1];

const noProcessLeft = (withinMs: number) =>
  eventually("every process of the platform is gone", withinMs, () => {
    const left = processesOf(dataDir);
    if (left.length > 0) throw new Error(left.map(({ pid, command }) => `${pid} ${command}`).join("\n"));
    return true;
  });

describe("sless up --example hello-node --once", () => {
  it("prints the answer alone on stdout and ends; a second run finds its state again", async () => {
    const first = await up("--example", "hello-node", "--once").exited;
    expect(first).toMatchObject({ code: 0 });
    expect(JSON.parse(first.stdout)).toMatchObject({ message: "Hello, world!" });
    expect(first.stderr).toMatch(/✓ cluster.*\(\d/);
    await noProcessLeft(1000);

    const second = await startSless(["up", "--data-dir", dataDir, "--example", "hello-node", "--once"], { env: env() })
      .exited;
    expect(second).toMatchObject({ code: 0 });
    expect(JSON.parse(second.stdout)).toMatchObject({ message: "Hello, world!" });
    expect(second.stderr).toContain("unchanged");
    expect(second.stderr).not.toContain("uploaded");
    expect(urlIn(second)).toBe(urlIn(first));
  });
});

describe("sless up", () => {
  it("leaves no process behind after Ctrl-C, nor after SIGKILL, and starts again with its functions", async () => {
    const first = await startPlatform(dataDir);
    const url = await deploy(first.tenant("life"), "survivor", answering("here"));
    expect((await call(url)).text).toBe("here");
    expect(processesOf(dataDir).length).toBeGreaterThan(4);

    first.up.child.kill("SIGKILL");
    await first.up.exited;
    await noProcessLeft(5000);

    const second = up();
    await eventually("it runs again", 60_000, () => second.stderr().includes("The platform runs."));
    const port = /functions: \S+:(\d+)/.exec(second.stderr())?.[1] ?? "";
    const again = url.replace(/:\d+/, `:${port}`);
    await eventually("the function is back", 20_000, async () => (await call(again)).text === "here");

    second.child.kill("SIGINT");
    expect(await second.exited).toMatchObject({ code: 0 });
    await noProcessLeft(1000);
  });

  it("refuses a second start in the same folder and names what runs there", async () => {
    const platform = await startPlatform(dataDir);
    const other = await up().exited;
    expect(other.code).toBe(1);
    expect(other.stderr).toContain(`process ${platform.up.child.pid}`);
    const down = await startSless(["down", "--data-dir", dataDir], { env: env() }).exited;
    expect(down).toMatchObject({ code: 0 });
    await platform.up.exited;
    await noProcessLeft(1000);
  });
});

describe("a component that is killed", () => {
  it("is reported, started again, and works: API, controller, gateway", async () => {
    const platform = await startPlatform(dataDir);
    const tenant = platform.tenant("healing");
    const url = await deploy(tenant, "before", answering("before"));
    for (const component of ["api", "controller", "gateway"] as const) {
      const pid = platform.pidOf(component);
      process.kill(pid ?? 0, "SIGKILL");
      await eventually(`${component} is reported`, 5000, () =>
        platform.up.stderr().includes(`${component} ended (SIGKILL)`),
      );
      await eventually(`${component} runs again`, 10_000, () => {
        const next = platform.pidOf(component);
        return next !== undefined && next !== pid;
      });
      await eventually("calls work again", 15_000, async () => (await call(url)).text === "before");
      await eventually("the API answers again", 15_000, () => tenant.client.whoami());
      const other = await deploy(tenant, `after-${component}`, answering("after"));
      await eventually("a new function answers", 5000, async () => (await call(other)).text === "after");
    }
    await platform.stop();
  });
});
