import assert from "node:assert/strict";
import { CASE_GROUPS } from "./cases/index.js";
import { LOAD_FAILURES } from "./cases/load-failures.js";
import { Pod, startPod } from "./pod.js";
import type { CaseGroup, LoadFailureCase } from "./conformance-case.js";
import type { RuntimeUnderTest } from "./pod.js";

/** The functions of a test framework that the suite needs; jest's globals fit. */
export interface TestFramework {
  describe(name: string, body: () => void): void;
  it(name: string, body: () => Promise<void>): void;
  beforeAll(body: () => Promise<void>): void;
  afterAll(body: () => Promise<void>): void;
}

const isFor = (runtime: RuntimeUnderTest, { only }: { readonly only?: string }): boolean =>
  only === undefined || only === runtime.language;

const describeGroup = (runtime: RuntimeUnderTest, group: CaseGroup, framework: TestFramework): void => {
  framework.describe(group.title, () => {
    let pod: Pod;
    framework.beforeAll(async () => {
      pod = await startPod(runtime, group.pod);
    });
    framework.afterAll(async () => {
      await pod.stop();
      assert.deepEqual(pod.strayOutput, [], "a runtime's stdout holds JSON lines only, its stderr nothing");
    });
    for (const one of group.cases.filter((candidate) => isFor(runtime, candidate))) {
      framework.it(`${one.id}: ${one.title}`, () => one.run(pod));
    }
  });
};

const runLoadFailure = async (runtime: RuntimeUnderTest, one: LoadFailureCase): Promise<void> => {
  const files = one.files?.[runtime.language];
  const pod = new Pod(runtime, { ...one.pod, ...(files !== undefined && { files }) });
  try {
    assert.equal(await pod.exited(), 1);
    const { reason, message } = JSON.parse(pod.terminationLog) as { reason: string; message: string };
    assert.equal(reason, "LoadError");
    assert.ok(Buffer.byteLength(pod.terminationLog) <= 4096);
    const extension = runtime.language === "node" ? "mjs" : "py";
    for (const text of one.says)
      assert.ok(message.includes(text.replace("{ext}", extension)), `${text} in: ${message}`);
    assert.ok(!message.includes(pod.codeDir), `a path of the machine in: ${message}`);
  } finally {
    await pod.stop();
  }
};

/** Declares the whole suite for one runtime. */
export const describeConformance = (runtime: RuntimeUnderTest, framework: TestFramework): void => {
  for (const group of CASE_GROUPS.filter((candidate) => isFor(runtime, candidate))) {
    describeGroup(runtime, group, framework);
  }
  framework.describe("code that cannot be loaded", () => {
    for (const one of LOAD_FAILURES.filter((candidate) => isFor(runtime, candidate))) {
      framework.it(`${one.id}: ${one.title}`, () => runLoadFailure(runtime, one));
    }
  });
};
