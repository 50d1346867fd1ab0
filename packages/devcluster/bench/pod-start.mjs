/**
 * What the cluster adds to a process start: a Deployment is created and the time taken until its endpoint is ready,
 * beside the bare start of the same program until its port answers. Pairs are interleaved; run after a build.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { createDevcluster, makeBaseImage } from "../dist/index.js";

const RUNS = Number(process.argv[2] ?? 15);
const dataDir = mkdtempSync(join(tmpdir(), "pod-start-"));
const program = join(dataDir, "program");
mkdirSync(program);
writeFileSync(
  join(program, "main.js"),
  'require("node:http").createServer((q, s) => s.end("ok")).listen(Number(process.env.SLESS_PORT), process.env.SLESS_HOST);',
);
const answers = (host, port) =>
  new Promise((resolve) => {
    const socket = connect({ host, port }, () => (socket.destroy(), resolve(true)));
    socket.once("error", () => resolve(false));
  });

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

const bareStart = async () => {
  const port = await freePort();
  const start = performance.now();
  const env = { SLESS_PORT: String(port), SLESS_HOST: "127.0.0.1" };
  const child = spawn(process.execPath, [join(program, "main.js")], { env, stdio: "ignore" });
  while (!(await answers("127.0.0.1", port))) await new Promise((resolve) => setTimeout(resolve, 2));
  const ms = performance.now() - start;
  child.kill("SIGKILL");
  await new Promise((resolve) => child.once("exit", resolve));
  return ms;
};

const cluster = await createDevcluster({ dataDir: join(dataDir, "cluster") }).start();
const { store, registry } = cluster;
const EXT = { group: "discovery.k8s.io", plural: "endpointslices" };
const DEPLOYMENTS = { group: "apps", plural: "deployments" };
const PODS = { group: "", plural: "pods" };
const labelled = (name) => ({ name, namespace: "default", labels: { app: name } });

const clusterStart = async (i) => {
  const name = `d${i}`;
  // Another image each time, as a deploy of changed code is: it is pulled and unpacked anew.
  writeFileSync(join(program, "version"), String(i));
  const files = { "/opt/app": program };
  const digest = await makeBaseImage({ registry, repository: "app", files, entrypoint: ["node", "/opt/app/main.js"] });
  const ports = [{ name: "call", port: 8080 }];
  store.create(
    { group: "", plural: "services" },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: labelled(name),
      spec: { clusterIP: "None", selector: { app: name }, ports },
    },
  );
  const container = {
    name: "function",
    image: `${registry.host}/app@${digest}`,
    ports: [{ name: "call", containerPort: 8080 }],
    env: [{ name: "SLESS_PORT", value: "8080" }],
    readinessProbe: { tcpSocket: { port: "call" } },
  };
  const start = performance.now();
  let running;
  const ready = new Promise((resolve) => {
    const stopPods = store.watch(PODS, { labelSelector: `app=${name}` }, ({ object }) => {
      if (object.status?.containerStatuses?.[0]?.state.running) running ??= performance.now() - start;
    });
    const stop = store.watch(EXT, { labelSelector: `app=${name}` }, ({ object }) => {
      if (!object.endpoints.some((endpoint) => endpoint.conditions.ready)) return;
      stopPods();
      stop();
      resolve(performance.now() - start);
    });
  });
  store.create(DEPLOYMENTS, {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: labelled(name),
    spec: {
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [container], terminationGracePeriodSeconds: 1 },
      },
    },
  });
  const total = await ready;
  store.delete(DEPLOYMENTS, "default", name);
  return { total, running };
};

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
const rows = [];
for (let i = 0; i < RUNS; i++) rows.push({ bare: await bareStart(), ...(await clusterStart(i)) });
await cluster.stop();
rmSync(dataDir, { recursive: true, force: true });
const of = (key) => median(rows.map((row) => row[key])).toFixed(1);
process.stdout.write(
  `bare start ${of("bare")} ms; by the cluster ${of("total")} ms, of which until the process runs ${of("running")} ms (medians of ${RUNS})\n`,
);
