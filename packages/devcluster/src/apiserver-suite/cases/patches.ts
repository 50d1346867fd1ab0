/* eslint-disable @typescript-eslint/no-unsafe-return, @typescript-eslint/no-unsafe-member-access -- answers are any JSON, and a case picks from them what it compares */
import {
  apply,
  CONFIG_MAPS,
  configMap,
  get,
  mergePatch,
  post,
  put,
  reasonOnly,
  strategicPatch,
  type Answer,
  type Select,
  type SuiteCase,
} from "../story.js";

const A = `${CONFIG_MAPS}/a`;
const DEPLOYMENTS = "/apis/apps/v1/namespaces/$NS/deployments";
const WEB = `${DEPLOYMENTS}/web`;

/** Paused and without replicas, so that a real cluster's controller leaves it alone. */
const deployment = (container: object = {}, more: object = {}): object => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", labels: { app: "web" } },
  spec: {
    replicas: 0,
    paused: true,
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: { containers: [{ name: "c", image: "registry.test/a:1", ...container }] },
    },
    ...more,
  },
});

const managers: Select<Answer> = ({ code, body }) => [
  code,
  body.data ?? body.message,
  (body.metadata.managedFields as { manager: string; operation: string; fieldsV1: object }[] | undefined)?.map(
    ({ manager, operation, fieldsV1 }) => [manager, operation, fieldsV1],
  ),
];
const specOf: Select<Answer> = ({ code, body }) => [code, body.spec ?? body.message];
const containers: Select<Answer> = ({ code, body }) => [code, body.spec?.template?.spec?.containers ?? body.message];
const create = post(
  DEPLOYMENTS,
  deployment({
    env: [
      { name: "A", value: "1" },
      { name: "B", value: "2" },
    ],
    ports: [{ containerPort: 80 }],
  }),
  { compare: "none" },
);
const inContainer = (patch: object) => ({ spec: { template: { spec: { containers: [{ name: "c", ...patch }] } } } });

export const PATCH_CASES: SuiteCase[] = [
  {
    name: "strategic merge changes one item of a list by its key",
    steps: [create, strategicPatch(WEB, inContainer({ image: "registry.test/a:2" }), { compare: containers })],
  },
  {
    name: "strategic merge adds an item",
    steps: [
      create,
      strategicPatch(
        WEB,
        { spec: { template: { spec: { containers: [{ name: "d", image: "registry.test/d:1" }] } } } },
        { compare: containers },
      ),
    ],
  },
  {
    name: "strategic merge deletes an item",
    steps: [
      create,
      strategicPatch(WEB, inContainer({ env: [{ name: "A", $patch: "delete" }] }), { compare: containers }),
    ],
  },
  {
    name: "strategic merge replaces a list",
    steps: [
      create,
      strategicPatch(WEB, inContainer({ env: [{ $patch: "replace" }, { name: "Z", value: "9" }] }), {
        compare: containers,
      }),
    ],
  },
  {
    name: "strategic merge keeps the order it is told",
    steps: [
      create,
      strategicPatch(
        WEB,
        inContainer({
          "$setElementOrder/env": [{ name: "B" }, { name: "C" }, { name: "A" }],
          env: [{ name: "C", value: "3" }],
        }),
        { compare: containers },
      ),
    ],
  },
  {
    name: "strategic merge retains the keys it names",
    steps: [
      create,
      strategicPatch(WEB, { spec: { strategy: { $retainKeys: ["type"], type: "Recreate" } } }, { compare: specOf }),
    ],
  },
  {
    name: "strategic merge replaces a map",
    steps: [
      create,
      strategicPatch(
        WEB,
        { metadata: { labels: { $patch: "replace", z: "1" } } },
        { compare: ({ body }) => body.metadata.labels },
      ),
    ],
  },
  {
    name: "strategic merge of finalizers is a set",
    steps: [
      post(CONFIG_MAPS, configMap("a", {}, { finalizers: ["x.test/a"] }), { compare: "none" }),
      strategicPatch(
        A,
        { metadata: { finalizers: ["x.test/b"] } },
        { compare: ({ body }) => body.metadata.finalizers },
      ),
      strategicPatch(
        A,
        { metadata: { "$deleteFromPrimitiveList/finalizers": ["x.test/a"] } },
        { compare: ({ body }) => body.metadata.finalizers },
      ),
      mergePatch(A, { metadata: { finalizers: null } }, { compare: "code" }),
    ],
  },
  {
    name: "merge patch replaces a whole list",
    steps: [create, mergePatch(WEB, inContainer({ image: "registry.test/b:1" }), { compare: containers })],
  },
];

export const APPLY_CASES: SuiteCase[] = [
  { name: "apply creates", steps: [apply(A, "one", configMap("a", { k: "v" })), get(A)] },
  {
    name: "apply again changes nothing",
    steps: [
      apply(A, "one", configMap("a", { k: "v" }), { save: "a" }),
      apply(A, "one", configMap("a", { k: "v" }), { compare: managers }),
      put(A, configMap("a", { k: "v" }, { resourceVersion: "{{a.metadata.resourceVersion}}" }), { compare: "code" }),
    ],
  },
  {
    name: "apply removes what the manager no longer names",
    steps: [
      apply(A, "one", configMap("a", { k: "v", l: "w" })),
      apply(A, "one", configMap("a", { k: "v" }), { compare: managers }),
    ],
  },
  {
    name: "apply conflicts with another manager",
    steps: [apply(A, "one", configMap("a", { k: "v" })), apply(A, "two", configMap("a", { k: "w" }))],
  },
  {
    name: "apply names every conflict",
    steps: [apply(A, "one", configMap("a", { k: "v", l: "v" })), apply(A, "two", configMap("a", { k: "w", l: "w" }))],
  },
  {
    name: "apply takes over by force",
    steps: [
      apply(A, "one", configMap("a", { k: "v" })),
      apply(A, "two", configMap("a", { k: "w" }), { force: true, compare: managers }),
    ],
  },
  {
    name: "apply of the same value shares it",
    steps: [
      apply(A, "one", configMap("a", { k: "v" })),
      apply(A, "two", configMap("a", { k: "v" }), { compare: managers }),
    ],
  },
  {
    name: "a shared value stays when one manager lets go",
    steps: [
      apply(A, "one", configMap("a", { k: "v" })),
      apply(A, "two", configMap("a", { k: "v" })),
      apply(A, "one", configMap("a", {}), { compare: managers }),
    ],
  },
  {
    name: "apply conflicts with an update",
    steps: [
      post(`${CONFIG_MAPS}?fieldManager=creator`, configMap("a", { k: "v" })),
      apply(A, "one", configMap("a", { k: "w" })),
    ],
  },
  {
    name: "an update takes fields from an applier",
    steps: [
      apply(A, "one", configMap("a", { k: "v", l: "w" })),
      mergePatch(`${A}?fieldManager=editor`, { data: { k: "x" } }, { compare: managers }),
      apply(A, "one", configMap("a", { k: "v", l: "w" }), { compare: ({ body }) => body.message }),
    ],
  },
  {
    name: "apply needs a manager",
    steps: [{ method: "PATCH", path: A, body: configMap("a"), type: "application/apply-patch+yaml" }],
  },
  {
    name: "apply refuses managedFields",
    steps: [
      apply(
        A,
        "one",
        configMap(
          "a",
          {},
          {
            managedFields: [
              { manager: "x", operation: "Apply", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: {} },
            ],
          },
        ),
        { compare: reasonOnly },
      ),
    ],
  },
  { name: "apply refuses unknown fields", steps: [apply(A, "one", { ...configMap("a"), dat: {} })] },
  {
    name: "apply under a stale version conflicts",
    steps: [
      post(CONFIG_MAPS, configMap("a", { k: "1" }), { save: "a" }),
      mergePatch(A, { data: { k: "2" } }),
      apply(A, "one", configMap("a", {}, { resourceVersion: "{{a.metadata.resourceVersion}}" }), {
        compare: reasonOnly,
      }),
    ],
  },
  {
    name: "apply with a uid creates nothing",
    steps: [
      apply(A, "one", configMap("a", {}, { uid: "11111111-1111-1111-1111-111111111111" }), { compare: reasonOnly }),
      get(A, { compare: "code" }),
    ],
  },
  {
    name: "dry run of an apply stores nothing",
    steps: [
      apply(`${A}?dryRun=All`, "one", configMap("a", { k: "v" }), { compare: managers }),
      get(A, { compare: "code" }),
    ],
  },
  { name: "apply creates a deployment with its defaults", steps: [apply(WEB, "one", deployment())] },
  {
    name: "managers of a created deployment own its defaults",
    steps: [post(`${DEPLOYMENTS}?fieldManager=creator`, deployment())],
  },
  {
    name: "apply merges containers and ports by key",
    steps: [
      apply(WEB, "one", deployment({ ports: [{ containerPort: 80 }], env: [{ name: "A", value: "1" }] }), {
        compare: "code",
      }),
      apply(
        WEB,
        "two",
        {
          apiVersion: "apps/v1",
          kind: "Deployment",
          metadata: { name: "web" },
          spec: {
            template: {
              spec: { containers: [{ name: "c", ports: [{ containerPort: 81 }], env: [{ name: "B", value: "2" }] }] },
            },
          },
        },
        { compare: containers },
      ),
      apply(
        WEB,
        "two",
        { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" } },
        { compare: containers },
      ),
    ],
  },
  {
    name: "apply orders items as the applier does",
    steps: [
      apply(
        WEB,
        "one",
        deployment({
          env: [
            { name: "A", value: "1" },
            { name: "B", value: "2" },
            { name: "C", value: "3" },
          ],
        }),
        { compare: "code" },
      ),
      apply(
        WEB,
        "one",
        deployment({
          env: [
            { name: "C", value: "3" },
            { name: "A", value: "1" },
          ],
        }),
        { compare: containers },
      ),
    ],
  },
  {
    name: "apply conflicts name the item by its key",
    steps: [
      apply(WEB, "one", deployment(), { compare: "code" }),
      apply(WEB, "two", deployment({ image: "registry.test/b:1" }), {
        compare: ({ body }) => [body.message, body.details],
      }),
    ],
  },
  {
    name: "labels of two managers live side by side",
    steps: [
      apply(A, "one", configMap("a", {}, { labels: { a: "1" } }), { compare: managers }),
      apply(A, "two", configMap("a", {}, { labels: { b: "2" } }), { compare: ({ body }) => body.metadata.labels }),
      apply(A, "one", configMap("a"), { compare: ({ body }) => [body.metadata.labels, body.metadata.managedFields] }),
    ],
  },
];
