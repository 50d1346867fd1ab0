import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApiServer } from "../apiserver/create-api-server.js";
import { startCoreControllers } from "../apiserver/controllers/start-controllers.js";
import { openClusterStore } from "../apiserver/open-cluster-store.js";
import { ALL_CASES } from "./cases/all.js";
import { findDifferences } from "./normalise.js";
import { readRecording, writeRecording, type Recording } from "./recording.js";
import { tellStory } from "./run-story.js";
import { get, type Answer, type Select, type SuiteCase } from "./story.js";
import { createTarget, type Target } from "./target.js";

const CONCURRENCY = 4;
const MAX_DIFFERENCES_SHOWN = 8;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

type Verdict = "passed" | "failed" | "skipped";

interface Suite {
  devcluster: Target;
  real: Target | undefined;
  recording: Recording;
  runId: string;
  record: boolean;
  hasKubectl: boolean;
}

const startDevcluster = async (): Promise<{ target: Target; stop(): Promise<void> }> => {
  const directory = mkdtempSync(join(tmpdir(), "apiserver-suite-"));
  const store = openClusterStore({ directory: join(directory, "state") });
  const stopControllers = startCoreControllers(store);
  const server = createApiServer({
    store,
    token: randomBytes(24).toString("base64url"),
    onError: (error) => print(`server fault: ${error instanceof Error ? (error.stack ?? "") : String(error)}`),
  });
  await server.listen();
  const kubeconfig = join(directory, "kubeconfig");
  server.writeKubeconfig(kubeconfig);
  const target = createTarget("devcluster", kubeconfig);
  const stop = async () => {
    target.close();
    stopControllers();
    await server.close();
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  };
  return { target, stop };
};

const isInstalled = (command: string): boolean => {
  try {
    execFileSync(command, ["version", "--client"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};

/** What the story must show: from the real cluster now, else as it was recorded from one. */
const expected = async (story: SuiteCase, suite: Suite, id: string): Promise<unknown[] | undefined> => {
  if (story.ownBehaviour !== undefined || !suite.real) return suite.recording.answers[story.name];
  return tellStory(story, suite.real, id);
};

const report = (story: SuiteCase, want: unknown[], got: unknown[]): Verdict => {
  const differences = findDifferences(want, got);
  if (differences.length === 0) return "passed";
  print(`✗ ${story.name}`);
  for (const { path, want: wanted, got: found } of differences.slice(0, MAX_DIFFERENCES_SHOWN))
    print(`    step ${path}\n      want ${JSON.stringify(wanted)}\n      got  ${JSON.stringify(found)}`);
  if (differences.length > MAX_DIFFERENCES_SHOWN)
    print(`    and ${differences.length - MAX_DIFFERENCES_SHOWN} more differences`);
  return "failed";
};

const usesKubectl = ({ steps }: SuiteCase): boolean => steps.some((step) => "kubectl" in step);

const runCase = async (story: SuiteCase, index: number, suite: Suite): Promise<Verdict> => {
  if (usesKubectl(story) && !suite.hasKubectl) {
    print(`- ${story.name}: skipped, kubectl is not on the PATH`);
    return "skipped";
  }
  const id = `${suite.runId}-${index}`;
  try {
    const [got, want] = await Promise.all([tellStory(story, suite.devcluster, id), expected(story, suite, id)]);
    if (suite.record) suite.recording.answers[story.name] = story.ownBehaviour !== undefined ? got : (want ?? got);
    if (want) return report(story, want, got);
    if (suite.record) return "passed";
    print(`- ${story.name}: skipped, nothing was recorded to compare with`);
    return "skipped";
  } catch (error) {
    print(`✗ ${story.name}\n    ${error instanceof Error ? error.message : String(error)}`);
    return "failed";
  }
};

const runAll = async (stories: readonly SuiteCase[], suite: Suite): Promise<Record<Verdict, number>> => {
  const counts: Record<Verdict, number> = { passed: 0, failed: 0, skipped: 0 };
  const queue = stories.map((story, index) => ({ story, index }));
  const work = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) counts[await runCase(next.story, next.index, suite)]++;
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return counts;
};

const selectVersion: Select<Answer> = ({ body }) => String((body as { gitVersion: string }).gitVersion);

const versionOf = async (target: Target): Promise<string> => {
  const story = { name: "version", steps: [get("/version", { compare: selectVersion })] };
  const [version] = await tellStory(story, target, "version");
  return String(version);
};

/**
 * Tells every story to a devcluster and to the cluster of KUBECONFIG, and compares. Without one, compares with
 * what a real kube-apiserver answered when it was last recorded (`--record`). `--only text` picks stories.
 */
const main = async (args: readonly string[]): Promise<number> => {
  const only = args.includes("--only") ? (args[args.indexOf("--only") + 1] ?? "") : "";
  const stories = ALL_CASES.filter(({ name }) => name.includes(only));
  const devcluster = await startDevcluster();
  const kubeconfig = process.env["KUBECONFIG"];
  const real = kubeconfig ? createTarget("real", kubeconfig) : undefined;
  const recording = readRecording();
  if (real) print(`comparing live with kube-apiserver ${await versionOf(real)}`);
  else
    print(
      `no KUBECONFIG: the live comparison with a real cluster is skipped; comparing with the recording of kube-apiserver ${recording.version}`,
    );
  const suite: Suite = {
    devcluster: devcluster.target,
    real,
    recording,
    runId: randomBytes(3).toString("hex"),
    record: args.includes("--record"),
    hasKubectl: isInstalled("kubectl"),
  };
  try {
    const { passed, failed, skipped } = await runAll(stories, suite);
    if (suite.record && real) writeRecording({ ...recording, version: await versionOf(real) });
    print(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
    return failed > 0 ? 1 : 0;
  } finally {
    real?.close();
    await devcluster.stop();
  }
};

process.exitCode = await main(process.argv.slice(2));
