/** What of a thing is compared. */
export type Select<T> = (thing: T) => unknown;

/** A request of a story. Strings may hold `$NS`, `$GROUP` and `{{answer.path.to.value}}` of earlier answers. */
export interface RequestStep {
  method: string;
  path: string;
  body?: unknown;
  /** Media type of the body; JSON when absent. */
  type?: string;
  headers?: Record<string, string>;
  /** Keeps the answer's body under a name for later steps. */
  save?: string;
  /** Repeats the request, bounded, until the answer fits: for what controllers do in their own time. */
  until?: (answer: Answer) => boolean;
  /** What of the answer is compared; all of it when absent. */
  compare?: "all" | "code" | "none" | Select<Answer>;
}

/** Opens a watch that later steps take events from. */
export interface WatchStep {
  watch: string;
  path: string;
}

/** Waits for a number of events of a watch (`"end"`: for its end) and compares them. */
export interface EventsStep {
  events: string;
  count: number | "end";
  compare?: Select<WatchedEvent>;
}

export interface KubectlStep {
  kubectl: string[];
  stdin?: unknown;
  compare?: "all" | "code" | ((output: string) => unknown);
}

export type Step = RequestStep | WatchStep | EventsStep | KubectlStep;

export interface Answer {
  code: number;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are any JSON, and cases read into it
  body: any;
  /** Texts of Warning headers. */
  warnings: string[];
}

export interface WatchedEvent {
  type: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as above
  object: any;
}

/** One story: what a client does, step by step; what comes back must be the same on every cluster. */
export interface SuiteCase {
  name: string;
  steps: Step[];
  /** Why a real cluster would answer otherwise by design: then only the recording of this cluster's own answers counts. */
  ownBehaviour?: string;
}

const json =
  (method: string) =>
  (path: string, body?: unknown, more: Partial<RequestStep> = {}): RequestStep => ({
    method,
    path,
    ...(body === undefined ? {} : { body }),
    ...more,
  });

export const get = (path: string, more: Partial<RequestStep> = {}): RequestStep => json("GET")(path, undefined, more);
export const post = json("POST");
export const put = json("PUT");
export const del = json("DELETE");
const patch =
  (type: string) =>
  (path: string, body: unknown, more: Partial<RequestStep> = {}): RequestStep =>
    json("PATCH")(path, body, { type, ...more });
export const mergePatch = patch("application/merge-patch+json");
export const jsonPatch = patch("application/json-patch+json");
export const strategicPatch = patch("application/strategic-merge-patch+json");
/** Server-side apply by a named manager. */
export const apply = (
  path: string,
  manager: string,
  body: unknown,
  more: Partial<RequestStep> & { force?: boolean } = {},
): RequestStep => {
  const { force, ...rest } = more;
  const query = `fieldManager=${manager}${force ? "&force=true" : ""}`;
  return patch("application/apply-patch+yaml")(`${path}${path.includes("?") ? "&" : "?"}${query}`, body, rest);
};

/** Code and reason, where the words are a matter of the implementation. */
export const reasonOnly: Select<Answer> = ({ code, body }) => [code, (body as { reason?: string }).reason];

export const CONFIG_MAPS = "/api/v1/namespaces/$NS/configmaps";
export const configMap = (name: string, data: Record<string, unknown> = {}, metadata: object = {}): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata },
  data,
});
