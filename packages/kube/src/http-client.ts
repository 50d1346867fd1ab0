import type { Readable } from "node:stream";
import type {
  ApplyOptions,
  CallOptions,
  DeleteOptions,
  KubeClient,
  ListOptions,
  MergePatch,
  PatchOptions,
  PodLogOptions,
  Preconditions,
  Selection,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "./client.js";
import { createConnection, type ConnectionOptions } from "./connection.js";
import { KubeError, TimeoutError, TransportError } from "./errors.js";
import {
  apiVersionOf,
  formatKey,
  objectKeyOf,
  type KubeObject,
  type ObjectKey,
  type ObjectList,
  type Resource,
} from "./object.js";
import { collectionPath, objectPath } from "./paths.js";
import { pods } from "./resources.js";
import { createTransport, type ApiRequest, type Transport } from "./transport.js";
import { parseWatchLine, readLines } from "./watch-stream.js";

const MERGE_PATCH = "application/merge-patch+json";
const APPLY_PATCH = "application/apply-patch+yaml";
const DEFAULT_WATCH_IDLE_MS = 90_000;

const describe = (verb: string, resource: Resource, key?: ObjectKey): string =>
  `${verb} ${resource.kind}${key ? ` ${formatKey(key)}` : ""}`;

const bounds = (options: CallOptions): Pick<ApiRequest, "signal" | "timeoutMs"> => ({
  signal: options.signal,
  timeoutMs: options.timeoutMs,
});

const selectionQuery = ({ labelSelector, fieldSelector }: Selection) => ({ labelSelector, fieldSelector });

const writeQuery = ({ fieldManager, dryRun }: WriteOptions) => ({ fieldManager, dryRun: dryRun ? "All" : undefined });

/** The wire form carries what it is; callers may leave that out. */
const withType = <T extends KubeObject>(resource: Resource<T>, object: T): T => ({
  ...object,
  apiVersion: apiVersionOf(resource),
  kind: resource.kind,
});

const withPreconditions = (patch: MergePatch, { uid, resourceVersion }: Preconditions): MergePatch => {
  if (uid === undefined && resourceVersion === undefined) return patch;
  const metadata = (patch["metadata"] ?? {}) as Record<string, unknown>;
  return { ...patch, metadata: { ...metadata, ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) } };
};

const isObject = (body: unknown): body is KubeObject => {
  const object = body as Partial<KubeObject> | null;
  return typeof object?.metadata === "object" && object.metadata !== null && object.kind !== "Status";
};

const parseObject = <T extends KubeObject>(_resource: Resource<T>, body: unknown, what: string): T => {
  if (!isObject(body)) throw new TransportError(`${what}: the answer is not an object of the API`);
  return body as T;
};

interface RawList<T> {
  items?: T[] | null;
  metadata?: { resourceVersion?: string; continue?: string };
}

/** Items of a list come without apiVersion and kind; they get them back. */
const parseList = <T extends KubeObject>(resource: Resource<T>, body: unknown, what: string): ObjectList<T> => {
  const { items, metadata } = (typeof body === "object" && body !== null ? body : {}) as RawList<T>;
  if (typeof metadata?.resourceVersion !== "string" || (items != null && !Array.isArray(items))) {
    throw new TransportError(`${what}: the answer is not a list`);
  }
  return {
    items: (items ?? []).map((item) => withType(resource, item)),
    resourceVersion: metadata.resourceVersion,
    ...(metadata.continue && { continue: metadata.continue }),
  };
};

interface PatchRequest<T extends KubeObject> {
  verb: string;
  resource: Resource<T>;
  key: ObjectKey;
  subresource?: string;
  body: unknown;
  contentType: string;
  options: WriteOptions & { force?: boolean | undefined };
}

const createPatcher =
  (transport: Transport) =>
  async <T extends KubeObject>(request: PatchRequest<T>): Promise<T> => {
    const { verb, resource, key, subresource, body, contentType, options } = request;
    const what = describe(verb, resource, key);
    const answer = await transport.json({
      method: "PATCH",
      path: objectPath(resource, key, subresource),
      what,
      query: { ...writeQuery(options), force: options.force },
      body,
      contentType,
      ...bounds(options),
    });
    return parseObject(resource, answer, what);
  };

const createWrites = (transport: Transport): Pick<KubeClient, "create" | "replace" | "delete"> => ({
  create: async (resource, object, options: WriteOptions = {}) => {
    const name = object.metadata.name ?? `${object.metadata.generateName ?? ""}*`;
    const what = describe("create", resource, { name, namespace: object.metadata.namespace });
    const answer = await transport.json({
      method: "POST",
      path: collectionPath(resource, object.metadata.namespace),
      what,
      query: writeQuery(options),
      body: withType(resource, object),
      ...bounds(options),
    });
    return parseObject(resource, answer, what);
  },
  replace: async (resource, object, options: WriteOptions = {}) => {
    const key = objectKeyOf(object);
    const what = describe("replace", resource, key);
    const answer = await transport.json({
      method: "PUT",
      path: objectPath(resource, key),
      what,
      query: writeQuery(options),
      body: withType(resource, object),
      ...bounds(options),
    });
    return parseObject(resource, answer, what);
  },
  delete: async (resource, key, options: DeleteOptions = {}) => {
    const { uid, resourceVersion, propagation, gracePeriodSeconds } = options;
    await transport.json({
      method: "DELETE",
      path: objectPath(resource, key),
      what: describe("delete", resource, key),
      body: {
        apiVersion: "v1",
        kind: "DeleteOptions",
        propagationPolicy: propagation ?? "Background",
        ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
        ...((uid ?? resourceVersion) && {
          preconditions: { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) },
        }),
      },
      ...bounds(options),
    });
  },
});

const createPatches = (
  transport: Transport,
): Pick<KubeClient, "mergePatch" | "patchStatus" | "apply" | "applyStatus"> => {
  const patch = createPatcher(transport);
  const apply = <T extends KubeObject>(
    target: { resource: Resource<T>; subresource?: string },
    object: T,
    options: ApplyOptions,
  ): Promise<T> => {
    const body = withType(target.resource, object);
    const verb = target.subresource ? `apply ${target.subresource} of` : "apply";
    return patch({ verb, ...target, key: objectKeyOf(object), body, contentType: APPLY_PATCH, options });
  };
  return {
    mergePatch: (resource, key, body, options: PatchOptions = {}) =>
      patch({
        verb: "patch",
        resource,
        key,
        body: withPreconditions(body, options),
        contentType: MERGE_PATCH,
        options,
      }),
    patchStatus: (resource, key, status, options: PatchOptions = {}) =>
      patch({
        verb: "patch status of",
        resource,
        key,
        subresource: "status",
        body: withPreconditions({ status }, options),
        contentType: MERGE_PATCH,
        options,
      }),
    apply: (resource, object, options) => apply({ resource }, object, options),
    applyStatus: (resource, object, options) => apply({ resource, subresource: "status" }, object, options),
  };
};

const createReads = (transport: Transport): Pick<KubeClient, "get" | "list" | "isReady"> => ({
  get: async (resource, key, options: CallOptions = {}) => {
    const what = describe("get", resource, key);
    const answer = await transport.json({ method: "GET", path: objectPath(resource, key), what, ...bounds(options) });
    return parseObject(resource, answer, what);
  },
  list: async (resource, options: ListOptions = {}) => {
    const what = describe("list", resource);
    const answer = await transport.json({
      method: "GET",
      path: collectionPath(resource, options.namespace),
      what,
      query: {
        ...selectionQuery(options),
        limit: options.limit,
        continue: options.continue,
        resourceVersion: options.resourceVersion,
      },
      ...bounds(options),
    });
    return parseList(resource, answer, what);
  },
  isReady: async (options: CallOptions = {}) => {
    try {
      await transport.json({ method: "GET", path: "/readyz", what: "check readiness", ...bounds(options) });
      return true;
    } catch (error) {
      if (error instanceof KubeError) return false;
      throw error;
    }
  },
});

const createStreams = (transport: Transport): Pick<KubeClient, "watch" | "podLogs"> => ({
  watch: async function* <T extends KubeObject>(
    resource: Resource<T>,
    options: WatchOptions,
  ): AsyncGenerator<WatchEvent<T>> {
    const what = describe("watch", resource);
    const idleMs = options.idleTimeoutMs ?? DEFAULT_WATCH_IDLE_MS;
    const { body, deadline } = await transport.stream({
      method: "GET",
      path: collectionPath(resource, options.namespace),
      what,
      query: {
        ...selectionQuery(options),
        watch: true,
        allowWatchBookmarks: true,
        resourceVersion: options.resourceVersion,
        timeoutSeconds: options.timeoutSeconds,
      },
      timeoutMs: idleMs,
      signal: options.signal,
    });
    try {
      for await (const line of readLines(body, deadline.restart)) {
        if (line.trim() !== "") yield parseWatchLine<T>(line, what);
      }
    } catch (error) {
      if (error instanceof KubeError) throw error;
      if (options.signal?.aborted) throw options.signal.reason;
      if (deadline.signal.aborted) throw new TimeoutError(`${what}: silent for ${idleMs} ms`);
      throw new TransportError(`${what}: the stream broke`, { cause: error });
    } finally {
      deadline.dispose();
      body.destroy();
    }
  },
  podLogs: async (key, options: PodLogOptions = {}): Promise<Readable> => {
    const { container, follow, tailLines, sinceSeconds, sinceTime, limitBytes, timestamps, previous } = options;
    const { body, deadline } = await transport.stream({
      method: "GET",
      path: objectPath(pods, key, "log"),
      what: describe("read log of", pods, key),
      query: { container, follow, tailLines, sinceSeconds, sinceTime, limitBytes, timestamps, previous },
      ...bounds(options),
    });
    if (follow) deadline.lift();
    body.once("close", deadline.dispose);
    return body;
  },
});

/**
 * Connects to an API server by kubeconfig, from inside a pod, or over plain HTTP with a token. Sends nothing yet.
 * Throws when the configuration cannot be read.
 */
export const createKubeClient = async (options: ConnectionOptions): Promise<KubeClient> => {
  const transport = createTransport(await createConnection(options));
  return {
    ...createReads(transport),
    ...createWrites(transport),
    ...createPatches(transport),
    ...createStreams(transport),
    close: transport.close,
  };
};
