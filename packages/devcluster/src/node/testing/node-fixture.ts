import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openClusterStore } from "../../apiserver/open-cluster-store.js";
import { makeBaseImage } from "../../base-image/base-image.js";
import { createRegistry, type Registry } from "../../registry/registry.js";
import type { ClusterStore, KubeObject, ResourceRef } from "../../store/types.js";
import { createAdmittingStore } from "../quota/admitting-store.js";
import { startKubelet, type Kubelet, type KubeletOptions } from "../kubelet/kubelet.js";
import { PODS, type Container, type Pod, type PodSpec } from "../objects.js";
import { useSameRealmClone } from "./same-realm-clone.js";

/** A node over a store in memory and a registry on disk, with one image whose program does as its env says. */
export interface NodeFixture {
  dataDir: string;
  store: ClusterStore;
  registry: Registry;
  kubelet: Kubelet;
  image: string;
  /** Pushes a program; @returns its image by digest */
  push(repository: string, files: Record<string, string>): Promise<string>;
  createPod(name: string, container?: Partial<Container>, spec?: Partial<PodSpec>): Pod;
  pod(name: string): Pod;
  /** Waits, by watch, until a pod is as described. */
  untilPod(name: string, condition: (pod: Pod | undefined) => boolean, timeoutMs?: number): Promise<Pod>;
  stop(): Promise<void>;
}

/** Serves on SLESS_HOST:SLESS_PORT what it knows of itself; commands in env make it misbehave. */
const PROGRAM = `
const http = require("node:http"), fs = require("node:fs");
const { MODE, SLESS_HOST, SLESS_PORT = "8080", SLESS_TERMINATION_LOG, START_DELAY = "0", EXIT_CODE = "3" } = process.env;
console.log("started", MODE ?? "serve");
if (MODE === "exit") { fs.writeFileSync(SLESS_TERMINATION_LOG, process.env.LAST_WORDS ?? ""); console.error("going down"); process.exit(Number(EXIT_CODE)); }
if (MODE === "hog") globalThis.held = Buffer.alloc(200e6, 1);
if (MODE === "stubborn") process.on("SIGTERM", () => console.log("no"));
else process.on("SIGTERM", () => { console.log("bye"); process.exit(0); });
let healthy = true;
const server = http.createServer((req, res) => {
  if (req.url === "/break") healthy = false;
  if (req.url === "/ready" && fs.existsSync(process.env.TMPDIR + "/unready")) { res.statusCode = 503; return res.end(); }
  if (req.url === "/livez" && !healthy) { res.statusCode = 500; return res.end(); }
  res.end(JSON.stringify({ env: process.env, argv: process.argv, cwd: process.cwd(), pid: process.pid }));
});
setTimeout(() => server.listen(Number(SLESS_PORT), SLESS_HOST), Number(START_DELAY));
`;

export const credentials = { username: "sless", password: "s3cret" };

/** Waits for an object of the store to be as described; the deadline is a failure with the object's last state. */
export const untilObject = <T extends KubeObject>(
  store: ClusterStore,
  at: { type: ResourceRef; namespace?: string; name: string },
  condition: (object: T | undefined) => boolean,
  timeoutMs = 10_000,
): Promise<T> =>
  new Promise((resolve, reject) => {
    const { type, namespace = "default", name } = at;
    const get = () => store.get(type, namespace, name) as T | undefined;
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      unwatch();
      settle();
    };
    const check = (): void => {
      const object = get();
      if (condition(object)) end(() => resolve(object as T));
    };
    const timer = setTimeout(
      () => end(() => reject(new Error(`${type.plural}/${name} not as wanted: ${JSON.stringify(get(), null, 1)}`))),
      timeoutMs,
    );
    const unwatch = store.watch(type, { namespace }, check);
    setImmediate(check);
  });

export const startNodeFixture = async (options: Partial<KubeletOptions> = {}): Promise<NodeFixture> => {
  useSameRealmClone();
  const dataDir = await mkdtemp(join(tmpdir(), "node-fixture-"));
  const store = options.store ?? createAdmittingStore(openClusterStore());
  const registry = await createRegistry({ dataDir: join(dataDir, "registry"), credentials });
  const kubelet = await startKubelet({
    store,
    dataDir,
    registryLogins: { [registry.host]: credentials },
    backoff: { baseMs: 50, maxMs: 1000, resetMs: 600_000 },
    ...options,
  });
  let pushes = 0;
  const push = async (repository: string, files: Record<string, string>): Promise<string> => {
    const folder = join(dataDir, `source-${pushes++}`);
    await mkdir(folder);
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
    const digest = await makeBaseImage({
      registry,
      repository,
      files: { "/opt/app": folder },
      entrypoint: ["node", "/opt/app/main.js"],
      env: { APP_HOME: "/opt/app", LIST: "/opt/app:/nowhere" },
    });
    return `${registry.host}/${repository}@${digest}`;
  };
  const image = await push("app", { "main.js": PROGRAM });
  const pod = (name: string) => store.get(PODS, "default", name) as Pod;

  return {
    dataDir,
    store,
    registry,
    kubelet,
    image,
    push,
    pod,
    createPod: (name, container = {}, spec = {}) =>
      store.create(PODS, {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name, namespace: "default" },
        spec: { containers: [{ name: "main", image, ...container }], terminationGracePeriodSeconds: 2, ...spec },
      }) as Pod,
    untilPod: (name, condition, timeoutMs) => untilObject<Pod>(store, { type: PODS, name }, condition, timeoutMs),
    async stop() {
      await kubelet.stop(500);
      await registry.close();
      await store.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
};

export const isReady = (pod: Pod | undefined): boolean =>
  pod?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;

/** The first container's status. */
export const mainStatus = (pod: Pod | undefined) => pod?.status?.containerStatuses?.[0];
