import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { CONFIG_MAPS, EVENTS, PODS, SECRETS, type Container, type Pod } from "../objects.js";
import { processIdentity } from "../process/proc.js";
import { isReady, mainStatus, startNodeFixture, type NodeFixture } from "../testing/node-fixture.js";

let node: NodeFixture;
beforeAll(async () => {
  node = await startNodeFixture();
});
afterAll(() => node.stop());

interface Answer {
  env: Record<string, string>;
  argv: string[];
  cwd: string;
  pid: number;
}
const ask = async (pod: Pod, path = "/"): Promise<Answer> =>
  (await (await fetch(`http://${pod.status?.podIP}:8080${path}`)).json()) as Answer;
const readiness: Pick<Container, "ports" | "readinessProbe"> = {
  ports: [{ name: "call", containerPort: 8080 }],
  readinessProbe: { httpGet: { path: "/ready", port: "call" }, periodSeconds: 1 },
};
const readLog = async (pod: Pod, options: { previous?: boolean; tailLines?: number } = {}): Promise<string> => {
  const { signal } = new AbortController();
  const request = { pod, container: "main", follow: false, timestamps: false, previous: false, signal };
  const rest = { tailLines: options.tailLines, sinceTime: undefined, limitBytes: undefined };
  const parts: Buffer[] = [];
  for await (const part of node.kubelet.podLogs({ ...request, ...rest, ...options })) parts.push(part);
  return Buffer.concat(parts).toString();
};
const env = (vars: Record<string, string>) => Object.entries(vars).map(([name, value]) => ({ name, value }));
const until = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
  const deadline = Date.now() + 8000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error("not within 8 s");
    await delay(10);
  }
};

const untilEvent = (pod: string, message: string): Promise<void> =>
  until(() => {
    const events = node.store.list(EVENTS, { fieldSelector: `involvedObject.name=${pod}` }).items;
    return events.some((event) => String(event["message"]).includes(message));
  });

describe("a pod", () => {
  it("runs as a process with paths of the image, its own address and an environment from empty (security 31)", async () => {
    process.env["LEAK"] = "secret of the machine";
    node.createPod("runs", {
      ...readiness,
      args: ["--file=/opt/app/main.js", "$(WORD)"],
      env: [
        ...env({ WORD: "hi", BOTH: "$(WORD)-$$(WORD)", CODE_DIR: "/opt/app" }),
        { name: "NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
      ],
    });
    const pod = await node.untilPod("runs", isReady);
    const answer = await ask(pod);
    expect(answer.env["LEAK"]).toBeUndefined();
    expect(answer.env).toMatchObject({ WORD: "hi", BOTH: "hi-$(WORD)", NAME: "runs", SLESS_HOST: pod.status?.podIP });
    expect(pod.status?.podIP).toMatch(/^127\.(?!0\.)/);
    const home = answer.env["APP_HOME"] ?? "";
    expect(home).toMatch(/rootfs\/opt\/app$/);
    expect(answer.env).toMatchObject({ CODE_DIR: home, LIST: `${home}:/nowhere` });
    expect(answer.argv.slice(1)).toEqual([`${home}/main.js`, `--file=${home}/main.js`, "hi"]);
    expect(answer.cwd).toBe(home.replace(/\/opt\/app$/, ""));
    expect(mainStatus(pod)).toMatchObject({ ready: true, started: true, restartCount: 0, imageID: node.image });
  });

  it("is found ready within milliseconds of its process, whatever the probe's period", async () => {
    const started = performance.now();
    node.createPod("quick", { ...readiness, readinessProbe: { ...readiness.readinessProbe, periodSeconds: 10 } });
    await node.untilPod("quick", isReady);
    expect(performance.now() - started).toBeLessThan(2000);
  });

  it("turns unready and ready again as its probe says", async () => {
    node.createPod("turns", readiness);
    const pod = await node.untilPod("turns", isReady);
    const { env: vars } = await ask(pod);
    const { rm, writeFile } = await import("node:fs/promises");
    await writeFile(`${vars["TMPDIR"]}/unready`, "");
    await node.untilPod("turns", (now) => !isReady(now));
    await rm(`${vars["TMPDIR"]}/unready`);
    await node.untilPod("turns", isReady);
  });

  it("is restarted when its liveness probe fails", async () => {
    node.createPod("lives", {
      ...readiness,
      livenessProbe: { httpGet: { path: "/livez", port: 8080 }, periodSeconds: 1, failureThreshold: 1 },
    });
    const pod = await node.untilPod("lives", isReady);
    await ask(pod, "/break");
    const after = await node.untilPod("lives", (now) => isReady(now) && mainStatus(now)?.restartCount === 1);
    expect(mainStatus(after)?.lastState.terminated).toMatchObject({ exitCode: 0, reason: "Completed" });
    expect(await readLog(after, { previous: true })).toContain("bye");
    expect(await readLog(after, { tailLines: 1 })).toBe("started serve\n");
  });

  it("is probed by commands, within their time", async () => {
    const exec = (script: string, more = {}) => ({
      exec: { command: ["/bin/sh", "-c", script] },
      periodSeconds: 1,
      ...more,
    });
    node.createPod("commanded", { readinessProbe: exec('test "$WORD" = yes'), env: env({ WORD: "yes" }) });
    await node.untilPod("commanded", isReady);
    node.createPod("slow-probe", { readinessProbe: exec("sleep 30"), startupProbe: exec("exit 0") });
    const pod = await node.untilPod("slow-probe", (now) => mainStatus(now)?.started === true);
    expect(isReady(pod)).toBe(false);
    await untilEvent("slow-probe", "Readiness probe failed: command exited with code -1");
  });

  it("is restarted when it does not start within its startup probe", async () => {
    const startupProbe = { tcpSocket: { port: 8080 }, periodSeconds: 1, failureThreshold: 1 };
    node.createPod("sleeps", { startupProbe, env: env({ START_DELAY: "60000" }) });
    const pod = await node.untilPod("sleeps", (now) => mainStatus(now)?.restartCount === 1);
    expect(mainStatus(pod)?.started).toBe(false);
    await untilEvent("sleeps", "Container main failed startup probe, will be restarted");
  });

  it("runs Python by the machine's own interpreter, not by a version manager's script", async () => {
    node.createPod(
      "python",
      { command: ["python3", "-c", "import sys; print(sys.executable)"] },
      { restartPolicy: "Never" },
    );
    const pod = await node.untilPod(
      "python",
      (now) => now?.status?.phase !== "Pending" && now?.status?.phase !== "Running",
    );
    expect(pod.status?.phase).toBe("Succeeded");
    expect(await readLog(pod)).not.toContain("shims");
  });

  it("is started again with growing waits when it crashes, and says its last words", async () => {
    node.createPod("crashes", { env: env({ MODE: "exit", LAST_WORDS: '{"reason":"LoadError"}' }) });
    const pod = await node.untilPod("crashes", (now) => mainStatus(now)?.state.waiting?.reason === "CrashLoopBackOff");
    expect(mainStatus(pod)).toMatchObject({
      lastState: { terminated: { exitCode: 3, reason: "Error", message: '{"reason":"LoadError"}' } },
      state: {
        waiting: {
          message: expect.stringMatching(/^back-off .* restarting failed container=main pod=crashes_default/),
        },
      },
    });
    expect(pod.status?.phase).toBe("Running");
    await node.untilPod("crashes", (now) => (mainStatus(now)?.restartCount ?? 0) >= 3);
  });

  it.each([
    ["fails", "3", "Failed"],
    ["succeeds", "0", "Succeeded"],
  ])("that runs once %s by its exit code, with the end of its log when it left no words", async (name, code, phase) => {
    const container = {
      env: env({ MODE: "exit", EXIT_CODE: code }),
      terminationMessagePolicy: "FallbackToLogsOnError",
    } as const;
    node.createPod(name, container, { restartPolicy: "Never" });
    const pod = await node.untilPod(name, (now) => now?.status?.phase === phase);
    const said = mainStatus(pod)?.state.terminated?.message ?? "";
    expect(said).toBe(code === "0" ? "" : "started exit\ngoing down\n");
  });

  it("R37: is killed at its memory limit and says so", async () => {
    node.createPod(
      "hog",
      { env: env({ MODE: "hog" }), resources: { limits: { memory: "100Mi" } } },
      { restartPolicy: "Never" },
    );
    const pod = await node.untilPod("hog", (now) => now?.status?.phase === "Failed");
    expect(mainStatus(pod)?.state.terminated).toMatchObject({ exitCode: 137, reason: "OOMKilled" });
  });
});

describe("deleting a pod", () => {
  it("ends its process by SIGTERM and leaves nothing", async () => {
    node.createPod("goes", readiness);
    const pod = await node.untilPod("goes", isReady);
    const { pid } = await ask(pod);
    node.store.delete(PODS, "default", "goes");
    expect(node.pod("goes").metadata.deletionTimestamp).toBeDefined();
    await node.untilPod("goes", (now) => now === undefined);
    expect(processIdentity(pid)).toBeUndefined();
    const folders = () => readdir(join(node.dataDir, "node", "pods"));
    await until(async () => !(await folders()).includes(pod.metadata.uid ?? ""));
  });

  it("kills what does not go within its grace", async () => {
    node.createPod("stubborn", { ...readiness, env: env({ MODE: "stubborn" }) });
    const { pid } = await ask(await node.untilPod("stubborn", isReady));
    const start = Date.now();
    node.store.delete(PODS, "default", "stubborn", { gracePeriodSeconds: 1 });
    await node.untilPod("stubborn", (now) => now === undefined);
    expect(Date.now() - start).toBeGreaterThanOrEqual(950);
    expect(processIdentity(pid)).toBeUndefined();
  });

  it("by force kills at once", async () => {
    node.createPod("forced", { ...readiness, env: env({ MODE: "stubborn" }) });
    const { pid } = await ask(await node.untilPod("forced", isReady));
    node.store.delete(PODS, "default", "forced", { gracePeriodSeconds: 0 });
    await until(() => processIdentity(pid) === undefined);
  });
});

describe("a pod that cannot start says why", () => {
  const reasonIs = (reason: string) => (pod: Pod | undefined) => mainStatus(pod)?.state.waiting?.reason === reason;

  it("when its image is missing, in the registry's words, and starts once it is there", async () => {
    const image = `${node.registry.host}/later:v1`;
    node.createPod("pulls", { image, ...readiness });
    const pod = await node.untilPod("pulls", reasonIs("ImagePullBackOff"));
    expect(mainStatus(pod)?.state.waiting?.message).toMatch(/later.*404 manifest unknown/);
    const pushed = await node.push("later", { "main.js": "setInterval(() => {}, 1000)" });
    const digest = pushed.split("@")[1] ?? "";
    const login = { Authorization: `Basic ${btoa("sless:s3cret")}` };
    const manifest = await fetch(`${node.registry.url}/v2/later/manifests/${digest}`, { headers: login });
    await fetch(`${node.registry.url}/v2/later/manifests/v1`, {
      method: "PUT",
      headers: { ...login, "Content-Type": manifest.headers.get("content-type") ?? "" },
      body: await manifest.text(),
    });
    await node.untilPod("pulls", (now) => mainStatus(now)?.state.running !== undefined);
  });

  it("D30: when its pull secret has a wrong login, and starts when that is mended", async () => {
    const makeConfig = (password: string) => {
      const auths = { [node.registry.host]: { auth: btoa(`sless:${password}`) } };
      return { ".dockerconfigjson": btoa(JSON.stringify({ auths })) };
    };
    const secret = { apiVersion: "v1", kind: "Secret", type: "kubernetes.io/dockerconfigjson" };
    const created = node.store.create(SECRETS, {
      ...secret,
      metadata: { name: "pull", namespace: "default" },
      data: makeConfig("old"),
    });
    node.createPod("secured", { imagePullPolicy: "Always" }, { imagePullSecrets: [{ name: "pull" }] });
    const pod = await node.untilPod("secured", reasonIs("ImagePullBackOff"));
    expect(mainStatus(pod)?.state.waiting?.message).toMatch(/401 unauthorized: authentication required/);
    node.store.update(SECRETS, { ...created, data: makeConfig("s3cret") });
    await node.untilPod("secured", (now) => mainStatus(now)?.state.running !== undefined);
  });

  it("when a Secret, its key or a ConfigMap is missing, and starts at once when it comes", async () => {
    const valueFrom = { secretKeyRef: { name: "token", key: "value" } };
    node.createPod("configured", {
      ...readiness,
      env: [{ name: "TOKEN", valueFrom }],
      envFrom: [{ configMapRef: { name: "settings" }, prefix: "S_" }],
    });
    const message = async (text: string) => {
      const pod = await node.untilPod(
        "configured",
        (now) => mainStatus(now)?.state.waiting?.message?.includes(text) ?? false,
      );
      expect(mainStatus(pod)?.state.waiting?.reason).toBe("CreateContainerConfigError");
    };
    const meta = (name: string) => ({ metadata: { name, namespace: "default" }, apiVersion: "v1" });
    await message('configmap "settings" not found');
    node.store.create(CONFIG_MAPS, { ...meta("settings"), kind: "ConfigMap", data: { A: "1" } });
    await message('secret "token" not found');
    const secret = node.store.create(SECRETS, { ...meta("token"), kind: "Secret", data: { other: "" } });
    await message("couldn't find key value in Secret default/token");
    node.store.update(SECRETS, { ...secret, data: { value: btoa("t0k") } });
    const { env: vars } = await ask(await node.untilPod("configured", isReady));
    expect(vars).toMatchObject({ TOKEN: "t0k", S_A: "1" });
  });

  it.each<[string, Partial<Container>, object]>([
    ["init containers", {}, { initContainers: [{ name: "i", image: "x/y:z" }] }],
    ["lifecycle hooks", { lifecycle: { preStop: { exec: { command: ["x"] } } } }, {}],
    ["hostPath", {}, { volumes: [{ name: "v", hostPath: { path: "/" } }] }],
  ])("when it asks for %s, which devcluster leaves out", async (what, container, spec) => {
    const name = `asks-${what.toLowerCase().replace(/\W/g, "")}`;
    node.createPod(name, container, spec);
    const pod = await node.untilPod(name, reasonIs("CreateContainerConfigError"));
    expect(mainStatus(pod)?.state.waiting?.message).toMatch(/devcluster (does not support|carries)/);
  });

  it("when its command does not exist", async () => {
    node.createPod("commands", { command: ["/no/such/program"] }, { restartPolicy: "Never" });
    const pod = await node.untilPod("commands", (now) => now?.status?.phase === "Failed");
    expect(mainStatus(pod)?.state.terminated).toMatchObject({
      exitCode: 128,
      reason: "StartError",
      message: expect.stringContaining("ENOENT"),
    });
  });
});

describe("volumes", () => {
  it("are folders: /tmp is TMPDIR, Secrets are files", async () => {
    const meta = { name: "files", namespace: "default" };
    node.store.create(SECRETS, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: meta,
      data: { "a.txt": btoa("content") },
    });
    node.createPod(
      "volumes",
      {
        ...readiness,
        env: env({ FILES: "/etc/files/a.txt" }),
        volumeMounts: [
          { name: "tmp", mountPath: "/tmp" },
          { name: "files", mountPath: "/etc/files" },
        ],
      },
      {
        volumes: [
          { name: "tmp", emptyDir: {} },
          { name: "files", secret: { secretName: "files" } },
        ],
      },
    );
    const { env: vars } = await ask(await node.untilPod("volumes", isReady));
    expect(vars["TMPDIR"]).toMatch(/volumes\/tmp$/);
    const { readFile } = await import("node:fs/promises");
    expect(await readFile(vars["FILES"] ?? "", "utf8")).toBe("content");
  });
});
