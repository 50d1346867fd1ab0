import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { makeBaseImage } from "./base-image/base-image.js";
import { createDevcluster, type Devcluster } from "./devcluster.js";
import { NODE_MARKER } from "./node/process/ledger.js";
import { findByEnvironment, listProcesses, processIdentity } from "./node/process/proc.js";

const PROGRAM = `require("node:http").createServer((req, res) => res.end(process.env.ANSWER + " " + process.pid)).listen(Number(process.env.SLESS_PORT), process.env.SLESS_HOST); console.log("serving");`;

let dataDir: string;
let cluster: Devcluster | undefined;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "devcluster-"));
});
afterEach(async () => {
  await cluster?.stop();
  cluster = undefined;
  await rm(dataDir, { recursive: true, force: true });
});

const start = async (): Promise<Devcluster> => (cluster = await createDevcluster({ dataDir }).start());

interface Access {
  apiUrl: string;
  secret: string;
}
const call = (
  { apiUrl, secret }: Access,
  path: string,
  init: { method?: string; body?: unknown } = {},
): Promise<Response> =>
  fetch(`${apiUrl}${path}`, {
    ...(init.method ? { method: init.method } : {}),
    headers: { Authorization: `Bearer ${secret}`, "Content-Type": "application/json" },
    ...(init.body === undefined ? {} : { body: JSON.stringify(init.body) }),
  });
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const pushProgram = async (registry: Devcluster["registry"]): Promise<string> => {
  const folder = join(dataDir, "program");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "main.js"), PROGRAM);
  const digest = await makeBaseImage({
    registry,
    repository: "app",
    files: { "/opt/app": folder },
    entrypoint: ["node", "/opt/app/main.js"],
  });
  return `${registry.host}/app@${digest}`;
};
const deploymentOf = (image: string) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "default" },
  spec: {
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: {
        containers: [
          {
            name: "function",
            image,
            env: [
              { name: "ANSWER", value: "hello" },
              { name: "SLESS_PORT", value: "8080" },
            ],
            ports: [{ name: "call", containerPort: 8080 }],
            readinessProbe: { tcpSocket: { port: "call" } },
          },
        ],
      },
    },
  },
});
const serviceOf = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "web", namespace: "default" },
  spec: { clusterIP: "None", selector: { app: "web" }, ports: [{ name: "call", port: 8080 }] },
};
interface SliceList {
  items: { endpoints: { addresses: string[]; conditions: { ready: boolean } }[]; ports: { port: number }[] }[];
}
/** Polls over HTTP, as any outsider would, for an endpoint that is ready. */
const readyEndpoint = async (access: Access): Promise<string> => {
  const deadline = Date.now() + 10_000;
  while (Date.now() < deadline) {
    const res = await call(access, "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices");
    const { items } = (await res.json()) as SliceList;
    for (const { endpoints, ports } of items) {
      const ready = endpoints.find(({ conditions }) => conditions.ready);
      if (ready) return `http://${ready.addresses[0]}:${ports[0]?.port}/`;
    }
    await delay(20);
  }
  throw new Error("no endpoint is ready within 10 s");
};
const answerOf = async (url: string): Promise<string> => (await fetch(url)).text();
const until = async (condition: () => boolean, what: string): Promise<void> => {
  const deadline = Date.now() + 8000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`not within 8 s: ${what}`);
    await delay(20);
  }
};

describe("devcluster", () => {
  it("runs a Deployment given over HTTP and serves its log", async () => {
    const access = await start();
    expect(
      (await call(access, "/api/v1/namespaces/default/services", { method: "POST", body: serviceOf })).status,
    ).toBe(201);
    const created = await call(access, DEPLOYMENTS, {
      method: "POST",
      body: deploymentOf(await pushProgram(access.registry)),
    });
    expect(created.status).toBe(201);
    expect(await answerOf(await readyEndpoint(access))).toMatch(/^hello \d+$/);
    const { items } = (await (await call(access, "/api/v1/namespaces/default/pods")).json()) as {
      items: { metadata: { name: string } }[];
    };
    const log = await call(access, `/api/v1/namespaces/default/pods/${items[0]?.metadata.name}/log`);
    expect([log.status, await log.text()]).toEqual([200, "serving\n"]);
    const nodes = (await (await call(access, "/api/v1/nodes")).json()) as { items: object[] };
    expect(nodes.items).toMatchObject([
      { metadata: { name: "localhost" }, status: { conditions: [{ type: "Ready", status: "True" }] } },
    ]);
  });

  it("stops without a process left, and starts again with the same addresses, secret and workloads", async () => {
    const first = await start();
    await call(first, "/api/v1/namespaces/default/services", { method: "POST", body: serviceOf });
    await call(first, DEPLOYMENTS, { method: "POST", body: deploymentOf(await pushProgram(first.registry)) });
    const [, pid] = (await answerOf(await readyEndpoint(first))).split(" ");
    await first.stop();
    expect(processIdentity(Number(pid))).toBeUndefined();

    const second = await start();
    expect([second.secret, second.apiUrl, second.registry.url, second.s3.url, second.issuer.url]).toEqual([
      first.secret,
      first.apiUrl,
      first.registry.url,
      first.s3.url,
      first.issuer.url,
    ]);
    const answered = async (): Promise<string | undefined> =>
      answerOf(await readyEndpoint(second)).catch(() => undefined);
    const deadline = Date.now() + 8000;
    let answer = await answered();
    // The old address may stand until the new process has told its own.
    while (answer === undefined && Date.now() < deadline) answer = await answered();
    expect(answer).toMatch(/^hello \d+$/);
    expect(answer).not.toBe(`hello ${pid}`);
  });

  it("security 31: every service wants the installation's secret, and what is on disk is its owner's alone", async () => {
    const access = await start();
    const { apiUrl, registry, s3, issuer, secret } = access;
    expect((await fetch(`${apiUrl}/api/v1/pods`)).status).toBe(401);
    expect((await fetch(`${registry.url}/v2/`)).status).toBe(401);
    expect((await fetch(`${s3.url}/sless`)).status).toBe(403);
    expect((await fetch(`${issuer.url}/token`)).status).toBe(404);
    for (const url of [`${registry.url}/v2/`, `${s3.url}/sless`, `${issuer.url}/jwks`, `${apiUrl}/api/v1/pods`]) {
      const authorization = url.startsWith(apiUrl) ? `Bearer ${secret}` : `Basic ${btoa(`sless:${secret}`)}`;
      const res = await fetch(url, { headers: { Origin: "http://evil.example", Authorization: authorization } });
      expect([url, res.status, res.headers.get("access-control-allow-origin")]).toEqual([url, 403, null]);
    }
    for (const file of ["devcluster.json", "kubeconfig", "issuer/issuer.key"]) {
      expect([file, (await stat(join(dataDir, file))).mode & 0o777]).toEqual([file, 0o600]);
    }
  });

  it("does not start twice in one folder, and leaves the first alone", async () => {
    const first = await start();
    await expect(createDevcluster({ dataDir }).start()).rejects.toThrow();
    expect((await call(first, "/api/v1/namespaces")).status).toBe(200);
  });

  it("killed with SIGKILL leaves no process behind, and comes back whole", async () => {
    const built = fileURLToPath(new URL("../dist/devcluster.js", import.meta.url));
    const script = `
      const { createDevcluster } = await import(${JSON.stringify(built)});
      const cluster = await createDevcluster({ dataDir: ${JSON.stringify(dataDir)} }).start();
      console.log(JSON.stringify({ apiUrl: cluster.apiUrl, secret: cluster.secret, host: cluster.registry.host, credentials: cluster.registry.credentials }));`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const access = JSON.parse(String((await once(child.stdout, "data"))[0])) as Access & {
      host: string;
      credentials: { username: string; password: string };
    };
    await call(access, "/api/v1/namespaces/default/services", { method: "POST", body: serviceOf });
    const image = await pushProgram({
      ...access,
      url: "",
      collectGarbage: () => Promise.reject(new Error()),
      close: () => Promise.resolve(),
    });
    await call(access, DEPLOYMENTS, { method: "POST", body: deploymentOf(image) });
    const [, pid] = (await answerOf(await readyEndpoint(access))).split(" ");
    const marker =
      (await readFile(`/proc/${pid}/environ`, "utf8")).split("\0").find((entry) => entry.startsWith(NODE_MARKER)) ?? "";
    child.kill("SIGKILL");
    await once(child, "exit");
    await until(
      () => findByEnvironment(NODE_MARKER, marker.split("=")[1] ?? "").length === 0,
      "no pod process is left",
    );
    await until(() => !reapersOf(marker).length, "the watcher is gone too");

    const again = await start();
    expect(again.secret).toBe(access.secret);
    expect(await eventuallyAnswers(again)).toMatch(/^hello/);
  });

  const reapersOf = (marker: string): number[] => {
    const value = marker.split("=")[1] ?? "none";
    return listProcesses().filter((pid) => commandLine(pid).includes(value));
  };
  const eventuallyAnswers = async (access: Access): Promise<string> => {
    const deadline = Date.now() + 8000;
    for (;;) {
      try {
        return await answerOf(await readyEndpoint(access));
      } catch (error) {
        if (Date.now() > deadline) throw error;
      }
    }
  };
});

const commandLine = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
};
