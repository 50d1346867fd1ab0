import { execFile } from "node:child_process";
import type { IncomingMessage } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { normalise } from "./normalise.js";
import type { Answer, EventsStep, KubectlStep, RequestStep, Step, SuiteCase, WatchedEvent } from "./story.js";
import type { Target } from "./target.js";

/** A real namespace controller may take its time while many namespaces go. */
const DEADLINE_MS = 60_000;
const POLL_MS = 100;

interface OpenWatch {
  events: WatchedEvent[];
  ended: boolean;
  taken: number;
  stop(): void;
}

/** What one story knows while it is told to one cluster. */
interface Telling {
  target: Target;
  names: ReadonlyMap<string, string>;
  saved: Map<string, unknown>;
  watches: Map<string, OpenWatch>;
}

const lookUp = (saved: ReadonlyMap<string, unknown>, path: string): string => {
  const [name = "", ...rest] = path.split(".");
  const found = rest.reduce<unknown>(
    (value, key) => (value as Record<string, unknown> | undefined)?.[key],
    saved.get(name),
  );
  if (typeof found !== "string" && typeof found !== "number") throw new Error(`nothing was saved as ${path}`);
  return String(found);
};

const fill = (text: string, { names, saved }: Telling): string => {
  let filled = text.replaceAll(/\{\{([^}]+)\}\}/g, (_, path: string) => lookUp(saved, path));
  for (const [actual, placeholder] of names) filled = filled.replaceAll(placeholder, actual);
  return filled;
};

const readText = async (response: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
};

const parseBody = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
};

const warningsOf = (response: IncomingMessage): string[] =>
  [...String(response.headers["warning"] ?? "").matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, text = ""]) =>
    text.replaceAll(/\\(.)/g, "$1"),
  );

const send = async (step: RequestStep, telling: Telling): Promise<Answer> => {
  const body =
    step.body === undefined
      ? undefined
      : fill(typeof step.body === "string" ? step.body : JSON.stringify(step.body), telling);
  const response = await telling.target.send({
    method: step.method,
    path: fill(step.path, telling),
    headers: {
      Accept: "application/json",
      ...(body === undefined ? {} : { "Content-Type": step.type ?? "application/json" }),
      ...step.headers,
    },
    body,
  });
  return { code: response.statusCode ?? 0, body: parseBody(await readText(response)), warnings: warningsOf(response) };
};

const tellRequest = async (step: RequestStep, telling: Telling): Promise<unknown> => {
  const deadline = Date.now() + DEADLINE_MS;
  let answer = await send(step, telling);
  while (step.until && !step.until(answer)) {
    if (Date.now() > deadline) throw new Error(`${step.method} ${step.path}: the awaited answer did not come`);
    await delay(POLL_MS);
    answer = await send(step, telling);
  }
  if (step.save) telling.saved.set(step.save, answer.body);
  const { compare = "all" } = step;
  if (typeof compare === "function") return compare(answer);
  if (compare === "none") return null;
  return compare === "code" ? { code: answer.code } : answer;
};

const openWatch = async (name: string, path: string, telling: Telling): Promise<void> => {
  const response = await telling.target.send({
    method: "GET",
    path: fill(path, telling),
    headers: { Accept: "application/json" },
    body: undefined,
  });
  const watch: OpenWatch = { events: [], ended: false, taken: 0, stop: () => response.destroy() };
  telling.watches.set(name, watch);
  let rest = "";
  response.setEncoding("utf8");
  response.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) watch.events.push(JSON.parse(line) as WatchedEvent);
  });
  response.on("close", () => (watch.ended = true));
  response.on("error", () => (watch.ended = true));
};

const takeEvents = async ({ events, count, compare }: EventsStep, telling: Telling): Promise<unknown> => {
  const watch = telling.watches.get(events);
  if (!watch) throw new Error(`no watch is named ${events}`);
  const deadline = Date.now() + DEADLINE_MS;
  const isDone = () => (count === "end" ? watch.ended : watch.events.length >= watch.taken + count);
  while (!isDone()) {
    if (Date.now() > deadline)
      throw new Error(
        `watch ${events}: waited for ${count} events, got ${JSON.stringify(watch.events.slice(watch.taken))}`,
      );
    await delay(POLL_MS);
  }
  const end = count === "end" ? watch.events.length : watch.taken + count;
  const taken = watch.events.slice(watch.taken, end);
  watch.taken = end;
  return compare ? taken.map(compare) : taken;
};

const runKubectl = (step: KubectlStep, telling: Telling): Promise<unknown> =>
  new Promise((resolve) => {
    const args = step.kubectl.map((argument) => fill(argument, telling));
    const env = { PATH: process.env["PATH"], HOME: "/nonexistent", KUBECONFIG: telling.target.kubeconfig };
    const child = execFile("kubectl", args, { env, timeout: DEADLINE_MS * 2 }, (error, stdout, stderr) => {
      const code = error ? (typeof error.code === "number" ? error.code : 1) : 0;
      const output = stdout + stderr;
      const { compare = "all" } = step;
      if (typeof compare === "function") resolve({ code, output: compare(output) });
      else resolve(compare === "code" ? { code } : { code, output });
    });
    child.stdin?.end(step.stdin === undefined ? "" : fill(JSON.stringify(step.stdin), telling));
  });

const tell = async (step: Step, telling: Telling): Promise<unknown> => {
  if ("kubectl" in step) return runKubectl(step, telling);
  if ("events" in step) return takeEvents(step, telling);
  if ("method" in step) return tellRequest(step, telling);
  await openWatch(step.watch, step.path, telling);
  return null;
};

/**
 * Tells a story to a cluster, in a namespace and an API group of its own.
 * @returns what each step showed, normalised
 */
export const tellStory = async (story: SuiteCase, target: Target, id: string): Promise<unknown[]> => {
  const names = new Map([
    [`suite-${id}.sless.test`, "$GROUP"],
    [`suite-${id}`, "$NS"],
  ]);
  const telling: Telling = { target, names, saved: new Map(), watches: new Map() };
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "$NS" } };
  await send({ method: "POST", path: "/api/v1/namespaces", body: namespace }, telling);
  try {
    const shown: unknown[] = [];
    for (const step of story.steps) shown.push(normalise(await tell(step, telling), names) ?? null);
    return shown;
  } finally {
    for (const watch of telling.watches.values()) watch.stop();
    await send({ method: "DELETE", path: "/api/v1/namespaces/$NS" }, telling);
    await deleteDefinitions(telling);
  }
};

const deleteDefinitions = async (telling: Telling): Promise<void> => {
  const root = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const list = (await send({ method: "GET", path: root }, telling)).body as {
    items: { metadata: { name: string }; spec: { group: string } }[];
  };
  const group = fill("$GROUP", telling);
  for (const { metadata, spec } of list.items)
    if (spec.group === group) await send({ method: "DELETE", path: `${root}/${metadata.name}` }, telling);
};
