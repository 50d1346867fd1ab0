import { execFile, execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { answering, redeploy } from "../harness/functions.js";
import { call } from "../harness/http.js";
import { startPlatform, type Tenant, type TestPlatform } from "../harness/platform.js";

const hasKubectl = (): boolean => {
  try {
    execFileSync("kubectl", ["version", "--client"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};

const manifests = {
  trigger: `apiVersion: sless.kube5s.ru/v1alpha1
kind: Trigger
metadata: {name: by-kubectl}
spec: {functionRef: {name: by-kubectl}, type: http}
`,
  function: `apiVersion: sless.kube5s.ru/v1alpha1
kind: Function
metadata: {name: by-kubectl}
spec: {runtime: nodejs20, entrypoint: index.handler}
`,
};

(hasKubectl() ? describe : describe.skip)("kubectl", () => {
  let platform: TestPlatform;
  let tenant: Tenant;
  beforeAll(async () => {
    platform = await startPlatform();
    tenant = platform.tenant("kubectl");
    await tenant.client.functions.create({ name: "first", runtime: "nodejs20", entrypoint: "index.handler" });
  });
  afterAll(() => platform.stop());

  const kubectl = async (...args: string[]): Promise<string> => {
    const env = { PATH: process.env["PATH"], HOME: platform.dataDir, KUBECONFIG: platform.kubeconfig };
    const { stdout } = await promisify(execFile)("kubectl", ["-n", tenant.namespace, ...args], { env });
    return stdout;
  };
  const apply = (manifest: string): Promise<string> => {
    const file = join(platform.dataDir, "manifest.yaml");
    writeFileSync(file, manifest);
    return kubectl("apply", "-f", file);
  };

  it("creates a Trigger and then its Function; an upload makes both ready, and describe shows the events", async () => {
    await apply(manifests.trigger);
    await apply(manifests.function);
    await redeploy(tenant, "by-kubectl", answering("by kubectl"));
    await kubectl("wait", "fn/by-kubectl", "--for=condition=Ready", "--timeout=20s");
    await kubectl("wait", "trg/by-kubectl", "--for=condition=Ready", "--timeout=20s");
    const table = await kubectl("get", "fn,trg,fnv");
    expect(table).toMatch(/function\.sless\.kube5s\.ru\/by-kubectl +.*Ready/);
    expect(table).toMatch(/trigger\.sless\.kube5s\.ru\/by-kubectl +.*Active/);
    expect(table).toContain("functionversion.sless.kube5s.ru/by-kubectl-00001");
    const url = await kubectl("get", "fn", "by-kubectl", "-o", "jsonpath={.status.url}");
    expect((await call(url)).text).toBe("by kubectl");
    const described = await kubectl("describe", "fn", "by-kubectl");
    expect(described).toMatch(/Events:\n +Type +Reason/);
  });

  it("changes a Function, and is refused what no user may write", async () => {
    await kubectl("patch", "fn", "by-kubectl", "--type=merge", "-p", '{"spec":{"timeoutSec":7}}');
    await kubectl("wait", "fn/by-kubectl", "--for=jsonpath={.status.readyVersion}=2", "--timeout=20s");
    for (const patch of ['{"spec":{"memoryMB":1}}', '{"spec":{"entrypoint":"../x"}}', '{"spec":{"s3Key":5}}']) {
      await expect(kubectl("patch", "fn", "by-kubectl", "--type=merge", "-p", patch)).rejects.toThrow(/nvalid/);
    }
    await expect(
      kubectl("patch", "fnv", "by-kubectl-00001", "--type=merge", "-p", '{"spec":{"memoryMB":256}}'),
    ).rejects.toThrow(/snapshot/);
  });

  it("deletes a Function and waits until all of it is gone", async () => {
    await kubectl("delete", "fn", "by-kubectl", "--timeout=30s");
    expect(await kubectl("get", "fnv", "-o", "name")).toBe("");
    await kubectl("delete", "trg", "by-kubectl", "--timeout=30s");
  });
});
