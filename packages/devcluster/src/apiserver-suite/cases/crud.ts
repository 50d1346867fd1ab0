/* eslint-disable @typescript-eslint/no-unsafe-return, @typescript-eslint/no-unsafe-member-access, @typescript-eslint/no-unsafe-assignment -- answers are any JSON, and a case picks from them what it compares */
import {
  CONFIG_MAPS,
  configMap,
  del,
  get,
  jsonPatch,
  mergePatch,
  post,
  put,
  reasonOnly,
  type SuiteCase,
} from "../story.js";

const A = `${CONFIG_MAPS}/a`;
const create = post(CONFIG_MAPS, configMap("a", { k: "v" }), { save: "a" });

export const CRUD_CASES: SuiteCase[] = [
  { name: "create answers the whole object", steps: [create] },
  { name: "get answers what was created", steps: [create, get(A)] },
  { name: "create twice conflicts", steps: [create, create] },
  { name: "get of nothing is 404", steps: [get(`${CONFIG_MAPS}/none`)] },
  {
    name: "create with generateName gets a random suffix",
    steps: [
      post(
        CONFIG_MAPS,
        { ...configMap(""), metadata: { generateName: "gen-" } },
        {
          compare: ({ code, body }) => [
            code,
            body.metadata.generateName,
            /^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/.test(body.metadata.name as string),
          ],
        },
      ),
    ],
  },
  {
    name: "create without a name is invalid",
    steps: [post(CONFIG_MAPS, { apiVersion: "v1", kind: "ConfigMap", metadata: {} })],
  },
  { name: "create with a bad name is invalid", steps: [post(CONFIG_MAPS, configMap("Not_OK"))] },
  {
    name: "create with a bad label is invalid",
    steps: [post(CONFIG_MAPS, configMap("a", {}, { labels: { ok: "not ok!" } }))],
  },
  {
    name: "create in an absent namespace is 404",
    steps: [post("/api/v1/namespaces/$NS-absent/configmaps", configMap("a"))],
  },
  {
    name: "create with another namespace in the body is refused",
    steps: [post(CONFIG_MAPS, configMap("a", {}, { namespace: "other" }))],
  },
  {
    name: "create with a resourceVersion is refused",
    steps: [post(CONFIG_MAPS, configMap("a", {}, { resourceVersion: "1" }))],
  },
  {
    name: "create of another kind is refused",
    steps: [post(CONFIG_MAPS, { apiVersion: "v1", kind: "Secret", metadata: { name: "a" } }, { compare: reasonOnly })],
  },
  {
    name: "create ignores the server's own metadata",
    steps: [
      post(
        CONFIG_MAPS,
        configMap(
          "a",
          {},
          { creationTimestamp: "2001-01-01T00:00:00Z", generation: 7, deletionTimestamp: "2001-01-01T00:00:00Z" },
        ),
      ),
    ],
  },
  { name: "dry run creates nothing", steps: [post(`${CONFIG_MAPS}?dryRun=All`, configMap("a")), get(A)] },
  { name: "dryRun of another value is refused", steps: [post(`${CONFIG_MAPS}?dryRun=Some`, configMap("a"))] },
  {
    name: "update replaces and bumps the version",
    steps: [
      create,
      put(A, configMap("a", { k: "w" }), {
        save: "b",
        compare: ({ code, body }) => ({ code, data: body.data, managedFields: body.metadata.managedFields }),
      }),
      get(A),
    ],
  },
  {
    name: "update with a stale version conflicts",
    steps: [
      create,
      put(A, configMap("a", { k: "w" })),
      put(A, configMap("a", { k: "x" }, { resourceVersion: "{{a.metadata.resourceVersion}}" })),
    ],
  },
  {
    name: "update that changes nothing keeps the version",
    steps: [
      create,
      put(A, configMap("a", { k: "v" }), { save: "b" }),
      get(
        `${CONFIG_MAPS}?resourceVersion={{a.metadata.resourceVersion}}&resourceVersionMatch=NotOlderThan&fieldSelector=metadata.name%3Da`,
        {
          compare: "code",
        },
      ),
      put(A, configMap("a", { k: "x" }, { resourceVersion: "{{a.metadata.resourceVersion}}" }), { compare: "code" }),
    ],
  },
  {
    name: "update with another uid conflicts",
    steps: [
      create,
      put(A, configMap("a", {}, { uid: "11111111-1111-1111-1111-111111111111" }), { compare: reasonOnly }),
    ],
  },
  { name: "update of nothing is 404", steps: [put(A, configMap("a"))] },
  { name: "update under another name is refused", steps: [create, put(A, configMap("b"))] },
  { name: "merge patch sets and removes", steps: [create, mergePatch(A, { data: { k: null, l: "m" } })] },
  { name: "merge patch of nothing is 404", steps: [mergePatch(A, { data: {} })] },
  {
    name: "merge patch with a stale version conflicts",
    steps: [
      create,
      mergePatch(A, { data: { k: "2" } }),
      mergePatch(A, { metadata: { resourceVersion: "{{a.metadata.resourceVersion}}" }, data: { k: "3" } }),
    ],
  },
  {
    name: "JSON patch adds, tests, replaces, removes",
    steps: [
      create,
      jsonPatch(A, [
        { op: "test", path: "/data/k", value: "v" },
        { op: "add", path: "/data/n", value: "1" },
        { op: "replace", path: "/data/k", value: "w" },
        { op: "copy", from: "/data/k", path: "/data/c" },
        { op: "move", from: "/data/n", path: "/data/o" },
        { op: "add", path: "/metadata/labels", value: { "a.b/c": "d" } },
        { op: "replace", path: "/metadata/labels/a.b~1c", value: "e" },
      ]),
    ],
  },
  {
    name: "JSON patch whose test fails is refused",
    steps: [
      create,
      jsonPatch(A, [{ op: "test", path: "/data/k", value: "no" }], {
        compare: reasonOnly,
      }),
      get(A, { compare: "code" }),
    ],
  },
  {
    name: "JSON patch of an absent path is refused",
    steps: [create, jsonPatch(A, [{ op: "remove", path: "/data/none" }], { compare: reasonOnly })],
  },
  {
    name: "a patch of an unknown type is 415",
    steps: [
      create,
      {
        method: "PATCH",
        path: A,
        body: {},
        type: "application/json",
        compare: reasonOnly,
      },
    ],
  },
  {
    name: "a body that is no JSON is 400",
    steps: [{ method: "POST", path: CONFIG_MAPS, body: "{", compare: reasonOnly }],
  },
  {
    name: "a body of an unknown type is 415",
    steps: [
      {
        method: "POST",
        path: CONFIG_MAPS,
        body: "x",
        type: "text/plain",
        compare: reasonOnly,
      },
    ],
  },
  {
    name: "YAML bodies are read",
    steps: [
      {
        method: "POST",
        path: CONFIG_MAPS,
        type: "application/yaml",
        body: "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: v\n",
      },
    ],
  },
  {
    name: "unknown fields are named in a warning",
    steps: [
      post(
        `${CONFIG_MAPS}?fieldValidation=Warn`,
        { ...configMap("a"), dat: {} },
        { compare: ({ code, warnings, body }) => [code, warnings, body.dat] },
      ),
    ],
  },
  {
    name: "unknown fields are refused when strict",
    steps: [post(`${CONFIG_MAPS}?fieldValidation=Strict`, { ...configMap("a"), dat: {} }), get(A, { compare: "code" })],
  },
  {
    name: "unknown fields are dropped when ignored",
    steps: [post(`${CONFIG_MAPS}?fieldValidation=Ignore`, { ...configMap("a"), dat: {} })],
  },
  {
    name: "a field of the wrong type is 400",
    steps: [post(CONFIG_MAPS, { ...configMap("a"), data: "text" }, { compare: reasonOnly })],
  },
  {
    name: "metadata alone is answered when asked for",
    steps: [create, get(A, { headers: { Accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1" } })],
  },
  {
    name: "immutable config maps stay",
    steps: [post(CONFIG_MAPS, { ...configMap("a", { k: "v" }), immutable: true }), mergePatch(A, { data: { k: "w" } })],
  },
  { name: "a config map's key follows the rule", steps: [post(CONFIG_MAPS, configMap("a", { "not ok": "v" }))] },
  { name: "delete answers success", steps: [create, del(A), get(A, { compare: "code" })] },
  { name: "delete of nothing is 404", steps: [del(A)] },
  {
    name: "delete with another uid conflicts",
    steps: [create, del(A, { preconditions: { uid: "11111111-1111-1111-1111-111111111111" } })],
  },
  {
    name: "delete with a stale version conflicts",
    steps: [
      create,
      mergePatch(A, { data: { k: "2" } }),
      del(
        A,
        { preconditions: { resourceVersion: "{{a.metadata.resourceVersion}}" } },
        { compare: ({ code, body }) => [code, body.reason, body.details] },
      ),
    ],
  },
  {
    name: "dry run deletes nothing",
    steps: [create, del(`${A}?dryRun=All`, undefined, { compare: "code" }), get(A, { compare: "code" })],
  },
  {
    name: "an unknown propagation policy is refused",
    steps: [create, del(A, { propagationPolicy: "Sideways" }, { compare: reasonOnly })],
  },
  {
    name: "delete of a collection takes what the selector matches",
    steps: [
      post(CONFIG_MAPS, configMap("a", {}, { labels: { x: "1" } })),
      post(CONFIG_MAPS, configMap("b", {}, { labels: { x: "1" } })),
      post(CONFIG_MAPS, configMap("c", {}, { labels: { x: "2" } })),
      del(`${CONFIG_MAPS}?labelSelector=x%3D1`, undefined, { compare: ({ code, body }) => [code, body.kind] }),
      get(`${CONFIG_MAPS}?labelSelector=x`, {
        compare: ({ body }) => (body.items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name),
      }),
    ],
  },
];
