/* eslint-disable @typescript-eslint/no-unsafe-return, @typescript-eslint/no-unsafe-member-access -- answers are any JSON, and a case picks from them what it compares */
import {
  CONFIG_MAPS,
  configMap,
  del,
  get,
  mergePatch,
  post,
  type Answer,
  type Select,
  type SuiteCase,
} from "../story.js";

const gone = (name: string) => get(`${CONFIG_MAPS}/${name}`, { until: ({ code }) => code === 404, compare: "code" });
const owned = (name: string, more: object = {}, metadata: object = {}) =>
  post(
    CONFIG_MAPS,
    configMap(
      name,
      {},
      {
        ownerReferences: [
          { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: "{{owner.metadata.uid}}", ...more },
        ],
        ...metadata,
      },
    ),
    { compare: "code" },
  );
const owner = (metadata: object = {}) =>
  post(CONFIG_MAPS, configMap("owner", {}, metadata), { save: "owner", compare: "code" });
const lifecycle: Select<Answer> = ({ code, body }) => [
  code,
  body.metadata?.finalizers,
  body.metadata?.deletionTimestamp,
  body.metadata?.deletionGracePeriodSeconds,
];
const owners: Select<Answer> = ({ code, body }) => [code, body.metadata?.ownerReferences ?? null];
const release = (name: string) =>
  mergePatch(`${CONFIG_MAPS}/${name}`, { metadata: { finalizers: null } }, { compare: "code" });

export const LIFECYCLE_CASES: SuiteCase[] = [
  {
    name: "a finalizer holds a deletion until it is removed",
    steps: [
      post(CONFIG_MAPS, configMap("a", {}, { finalizers: ["x.test/hold"] }), { compare: lifecycle }),
      del(`${CONFIG_MAPS}/a`, undefined, { compare: lifecycle }),
      get(`${CONFIG_MAPS}/a`, { compare: lifecycle }),
      del(`${CONFIG_MAPS}/a`, undefined, { compare: lifecycle }),
      release("a"),
      gone("a"),
    ],
  },
  {
    name: "a deleted object takes no new finalizers",
    steps: [
      post(CONFIG_MAPS, configMap("a", {}, { finalizers: ["x.test/hold"] }), { compare: "code" }),
      del(`${CONFIG_MAPS}/a`, undefined, { compare: "code" }),
      mergePatch(
        `${CONFIG_MAPS}/a`,
        { metadata: { finalizers: ["x.test/hold", "x.test/more"] } },
        { compare: ({ code, body }) => [code, body.message] },
      ),
      release("a"),
    ],
  },
  {
    name: "a finalizer's name is qualified",
    steps: [
      post(CONFIG_MAPS, configMap("a", {}, { finalizers: ["hold"] }), {
        compare: ({ code, body }) => [code, body.message],
      }),
    ],
  },
  {
    name: "an owner reference needs all its parts",
    steps: [
      post(
        CONFIG_MAPS,
        configMap("a", {}, { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "", uid: "" }] }),
        { compare: ({ code, body }) => [code, body.message] },
      ),
    ],
  },
  {
    name: "background deletion collects dependents",
    steps: [
      owner(),
      owned("a"),
      del(`${CONFIG_MAPS}/owner`, { propagationPolicy: "Background" }, { compare: "code" }),
      gone("owner"),
      gone("a"),
    ],
  },
  {
    name: "foreground deletion waits for blocking dependents",
    steps: [
      owner(),
      owned("a", { blockOwnerDeletion: true }, { finalizers: ["x.test/hold"] }),
      del(`${CONFIG_MAPS}/owner`, { propagationPolicy: "Foreground" }, { compare: lifecycle }),
      get(`${CONFIG_MAPS}/a`, { until: ({ body }) => body.metadata?.deletionTimestamp !== undefined, compare: "code" }),
      get(`${CONFIG_MAPS}/owner`, { compare: lifecycle }),
      release("a"),
      gone("a"),
      gone("owner"),
    ],
  },
  {
    name: "orphans stay without their owner",
    steps: [
      owner(),
      owned("a"),
      del(`${CONFIG_MAPS}/owner`, { propagationPolicy: "Orphan" }, { compare: lifecycle }),
      gone("owner"),
      get(`${CONFIG_MAPS}/a`, { until: ({ body }) => body.metadata?.ownerReferences === undefined, compare: owners }),
    ],
  },
  {
    name: "an object of an owner that never was is collected",
    steps: [
      post(
        CONFIG_MAPS,
        configMap(
          "a",
          {},
          {
            ownerReferences: [
              { apiVersion: "v1", kind: "ConfigMap", name: "none", uid: "11111111-1111-1111-1111-111111111111" },
            ],
          },
        ),
        { compare: "code" },
      ),
      gone("a"),
    ],
  },
  {
    name: "an object with one owner left stays",
    steps: [
      owner(),
      post(CONFIG_MAPS, configMap("other"), { save: "other", compare: "code" }),
      post(
        CONFIG_MAPS,
        configMap(
          "a",
          {},
          {
            ownerReferences: ["owner", "other"].map((name) => ({
              apiVersion: "v1",
              kind: "ConfigMap",
              name,
              uid: `{{${name}.metadata.uid}}`,
            })),
          },
        ),
        { compare: "code" },
      ),
      del(`${CONFIG_MAPS}/owner`, { propagationPolicy: "Background" }, { compare: "code" }),
      gone("owner"),
      get(`${CONFIG_MAPS}/a`, { compare: "code" }),
    ],
  },
  {
    name: "an owner in another namespace never collects",
    steps: [
      post(
        "/api/v1/namespaces",
        { apiVersion: "v1", kind: "Namespace", metadata: { name: "$NS-b" } },
        { compare: "code" },
      ),
      owner(),
      post(
        "/api/v1/namespaces/$NS-b/configmaps",
        configMap(
          "a",
          {},
          { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: "{{owner.metadata.uid}}" }] },
        ),
        { compare: "code" },
      ),
      gone("never-was"),
      del("/api/v1/namespaces/$NS-b", undefined, { compare: "code" }),
    ],
  },
  {
    name: "a namespace is active, labelled and finalized",
    steps: [
      get("/api/v1/namespaces/$NS", {
        compare: ({ code, body }) => [code, body.spec, body.status, body.metadata.labels],
      }),
    ],
  },
  {
    name: "a namespace's name is a DNS label",
    steps: [post("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "a.b" } })],
  },
  {
    name: "a namespace goes with what is in it",
    steps: [
      post(
        "/api/v1/namespaces",
        { apiVersion: "v1", kind: "Namespace", metadata: { name: "$NS-b" } },
        { compare: "code" },
      ),
      post("/api/v1/namespaces/$NS-b/configmaps", configMap("a", {}, { finalizers: ["x.test/hold"] }), {
        compare: "code",
      }),
      del("/api/v1/namespaces/$NS-b", undefined, {
        compare: ({ code, body }) => [code, body.kind, body.status?.phase],
      }),
      post("/api/v1/namespaces/$NS-b/configmaps", configMap("b")),
      get("/api/v1/namespaces/$NS-b/configmaps/a", {
        until: ({ body }) => body.metadata?.deletionTimestamp !== undefined,
        compare: "code",
      }),
      get("/api/v1/namespaces/$NS-b", { compare: ({ body }) => body.status.phase }),
      mergePatch("/api/v1/namespaces/$NS-b/configmaps/a", { metadata: { finalizers: null } }, { compare: "code" }),
      get("/api/v1/namespaces/$NS-b", { until: ({ code }) => code === 404, compare: "code" }),
    ],
  },
  { name: "namespaces are not deleted as a collection", steps: [del("/api/v1/namespaces", undefined)] },
];
