import { badRequest, notFound } from "../../store/api-status-error.js";
import type { KubeObject } from "../../store/types.js";
import { listAt, textAt } from "../table/read.js";
import type { Exchange } from "./exchange.js";

/** What `pods/log` asks of the node that runs the pod. */
export interface PodLogRequest {
  pod: KubeObject;
  container: string;
  follow: boolean;
  timestamps: boolean;
  /** The container's run before this one. */
  previous: boolean;
  tailLines: number | undefined;
  /** RFC 3339; `sinceSeconds` arrives as this too. */
  sinceTime: string | undefined;
  limitBytes: number | undefined;
  /** Ends a follow when the client goes or the server closes. */
  signal: AbortSignal;
}

/**
 * The node's side: the log as it is and, with `follow`, as it grows.
 * May throw an ApiStatusError (400 while the container has not started) before the first chunk.
 */
export type PodLogs = (request: PodLogRequest) => AsyncIterable<Uint8Array | string>;

const count = (query: URLSearchParams, key: string): number | undefined => {
  const text = query.get(key);
  if (text === null || text === "") return undefined;
  if (!/^\d{1,12}$/.test(text))
    throw badRequest(`PodLogOptions "" is invalid: ${key}: Invalid value: ${JSON.stringify(text)}`);
  return Number(text);
};

const sinceOf = (query: URLSearchParams): string | undefined => {
  const seconds = count(query, "sinceSeconds");
  if (seconds !== undefined) return new Date(Date.now() - seconds * 1000).toISOString();
  const time = query.get("sinceTime") ?? "";
  if (time === "") return undefined;
  if (Number.isNaN(Date.parse(time))) throw badRequest(`sinceTime: ${JSON.stringify(time)} is not a time`);
  return time;
};

const chooseContainer = (pod: KubeObject, asked: string | null): string => {
  const { name } = pod.metadata;
  const names = [...listAt(pod, "spec", "containers"), ...listAt(pod, "spec", "initContainers")].map((container) =>
    textAt(container, "name"),
  );
  if (asked) {
    if (names.includes(asked)) return asked;
    throw badRequest(`container ${asked} is not valid for pod ${name}`);
  }
  const [only, ...others] = listAt(pod, "spec", "containers").map((container) => textAt(container, "name"));
  if (only === undefined || others.length > 0)
    throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names.join(" ")}]`);
  return only;
};

const isTrue = (query: URLSearchParams, key: string): boolean => query.get(key) === "true";

/** GET of `pods/log`: streams text. */
export const handlePodLog = async (exchange: Exchange, podLogs: PodLogs): Promise<void> => {
  const { store, type, namespace, name, query, response } = exchange;
  const pod = store.get(type, namespace, name);
  if (!pod) throw notFound(type, name);
  const aborter = new AbortController();
  response.on("close", () => aborter.abort());
  const chunks = podLogs({
    pod,
    container: chooseContainer(pod, query.get("container")),
    follow: isTrue(query, "follow"),
    timestamps: isTrue(query, "timestamps"),
    previous: isTrue(query, "previous"),
    tailLines: count(query, "tailLines"),
    sinceTime: sinceOf(query),
    limitBytes: count(query, "limitBytes"),
    signal: aborter.signal,
  });
  for await (const chunk of chunks) {
    if (!response.headersSent) response.writeHead(200, { "Content-Type": "text/plain; charset=utf-8" });
    if (!response.write(chunk)) await drained(response);
    if (aborter.signal.aborted) return;
  }
  if (!response.headersSent) response.writeHead(200, { "Content-Type": "text/plain; charset=utf-8" });
  response.end();
};

const drained = (response: Exchange["response"]): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.on("drain", done).on("close", done);
  });
