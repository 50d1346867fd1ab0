/* eslint-disable @typescript-eslint/no-unsafe-return, @typescript-eslint/no-unsafe-member-access, @typescript-eslint/no-unsafe-argument -- answers are any JSON, and a case picks from them what it compares */
import {
  apply,
  del,
  get,
  jsonPatch,
  mergePatch,
  post,
  put,
  reasonOnly,
  strategicPatch,
  type Answer,
  type Select,
  type Step,
  type SuiteCase,
} from "../story.js";

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const THINGS = "/apis/$GROUP/v1alpha1/namespaces/$NS/things";
const T = `${THINGS}/t`;

const SPEC_SCHEMA = {
  type: "object",
  required: ["runtime"],
  properties: {
    runtime: { type: "string", enum: ["nodejs20", "python3.11"] },
    memoryMB: { type: "integer", minimum: 64, maximum: 1024, default: 128 },
    entrypoint: { type: "string", minLength: 3, maxLength: 10, pattern: "^[a-z]+\\.[a-z]+$" },
    ratio: { type: "number", exclusiveMinimum: true, minimum: 0 },
    step: { type: "integer", multipleOf: 5 },
    env: { type: "object", additionalProperties: { type: "string" }, maxProperties: 2 },
    scale: {
      type: "object",
      default: { min: 1, max: 5 },
      properties: { min: { type: "integer", default: 1 }, max: { type: "integer", default: 5 } },
      "x-kubernetes-validations": [{ rule: "self.min <= self.max", message: "min must not exceed max" }],
    },
    traffic: {
      type: "array",
      maxItems: 3,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["version"],
      items: {
        type: "object",
        required: ["version"],
        properties: { version: { type: "integer" }, percent: { type: "integer" } },
      },
    },
    tags: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
    port: { "x-kubernetes-int-or-string": true },
    free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    when: { type: "string", format: "date-time" },
    maybe: { type: "string", nullable: true },
    fixed: { type: "string", "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "fixed is immutable" }] },
    flag: { type: "boolean" },
  },
};

const definition = (more: { schema?: object; status?: boolean; version?: object } = {}): object => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "things.$GROUP" },
  spec: {
    group: "$GROUP",
    scope: "Namespaced",
    names: { plural: "things", singular: "thing", kind: "Thing", shortNames: ["thg"], categories: ["sless"] },
    versions: [
      {
        name: "v1alpha1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: more.schema ?? {
            type: "object",
            properties: {
              spec: SPEC_SCHEMA,
              status: { type: "object", properties: { phase: { type: "string" }, replicas: { type: "integer" } } },
            },
          },
        },
        ...(more.status === false
          ? {}
          : {
              subresources: {
                status: {},
                scale: { specReplicasPath: ".spec.scale.min", statusReplicasPath: ".status.replicas" },
              },
            }),
        additionalPrinterColumns: [
          { name: "Runtime", type: "string", jsonPath: ".spec.runtime" },
          { name: "Memory", type: "integer", jsonPath: ".spec.memoryMB", priority: 1 },
          { name: "Phase", type: "string", jsonPath: ".status.phase" },
        ],
        ...more.version,
      },
    ],
  },
});

const declare = (more: Parameters<typeof definition>[0] = {}): Step[] => [
  post(CRDS, definition(more), { compare: "code" }),
  get(`${CRDS}/things.$GROUP`, {
    until: ({ body }) =>
      (body.status?.conditions as { type: string; status: string }[] | undefined)?.some(
        ({ type, status }) => type === "Established" && status === "True",
      ) ?? false,
    compare: "none",
  }),
  get(`${THINGS}`, { until: ({ code }) => code === 200, compare: "none" }),
];

const thing = (spec: object = { runtime: "nodejs20" }, more: object = {}): object => ({
  apiVersion: "$GROUP/v1alpha1",
  kind: "Thing",
  metadata: { name: "t" },
  spec,
  ...more,
});
const refused = (name: string, spec: object): SuiteCase => ({
  name,
  steps: [
    ...declare(),
    post(THINGS, thing({ runtime: "nodejs20", ...spec }), {
      compare: ({ code, body }) => [code, body.message, body.details],
    }),
  ],
});
const specOf: Select<Answer> = ({ code, body }) => [code, body.spec ?? body.message];
const meta: Select<Answer> = ({ code, body }) => [code, body.metadata?.generation, body.spec, body.status];
const create = post(THINGS, thing(), { save: "t" });

interface DiscoveredResource {
  name: string;
  verbs: string[];
  storageVersionHash?: string;
}

/** In an order of names and verbs, which have no meaning. */
const resourcesOf = (body: { resources: DiscoveredResource[] }): object[] =>
  [...body.resources]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((resource) => ({ ...resource, verbs: [...resource.verbs].sort(), storageVersionHash: undefined }));

export const CUSTOM_RESOURCE_CASES: SuiteCase[] = [
  {
    name: "a definition is established and discovered",
    steps: [
      ...declare(),
      get(`${CRDS}/things.$GROUP`, {
        compare: ({ body }) => [
          body.status.acceptedNames,
          body.status.storedVersions,
          (body.status.conditions as { type: string; status: string }[]).map(({ type, status }) => [type, status]),
        ],
      }),
      get("/apis/$GROUP/v1alpha1", {
        compare: ({ body }) => resourcesOf(body),
      }),
      get("/apis/$GROUP"),
    ],
  },
  {
    name: "a definition's name is made of its parts",
    steps: [post(CRDS, { ...definition(), metadata: { name: "wrong.$GROUP" } }, { compare: reasonOnly })],
  },
  {
    name: "a definition's schema says its types",
    steps: [
      post(
        CRDS,
        definition({ schema: { type: "object", properties: { spec: { properties: { a: { type: "string" } } } } } }),
        { compare: reasonOnly },
      ),
    ],
  },
  {
    name: "a definition's rules must compile",
    steps: [
      post(
        CRDS,
        definition({
          schema: {
            type: "object",
            properties: { spec: { type: "object", "x-kubernetes-validations": [{ rule: "nonsense(" }] } },
          },
        }),
        { compare: reasonOnly },
      ),
    ],
  },
  { name: "a custom resource gets its defaults", steps: [...declare(), create, get(T)] },
  {
    name: "unknown fields of a custom resource are pruned",
    steps: [
      ...declare(),
      post(
        `${THINGS}?fieldValidation=Warn`,
        thing({ runtime: "nodejs20", memory: 3, scale: { mni: 1 }, free: { any: { thing: [1] } } }),
        { compare: ({ body, warnings }) => [body.spec, warnings] },
      ),
    ],
  },
  {
    name: "unknown fields of a custom resource are refused when strict",
    steps: [...declare(), post(`${THINGS}?fieldValidation=Strict`, thing({ runtime: "nodejs20", memory: 3 }))],
  },
  refused("a number below its minimum", { memoryMB: 32 }),
  refused("a number above its maximum", { memoryMB: 4096 }),
  refused("a string for an integer", { memoryMB: "128" }),
  refused("a fraction for an integer", { memoryMB: 128.5 }),
  refused("an exclusive minimum", { ratio: 0 }),
  refused("a number that is no multiple", { step: 7 }),
  refused("a value outside its enum", { runtime: "cobol" }),
  refused("a string that is too short", { entrypoint: "a" }),
  refused("a string that is too long", { entrypoint: "abcdef.ghijkl" }),
  refused("a string that does not match", { entrypoint: "A-b" }),
  refused("a map with too many keys", { env: { a: "1", b: "2", c: "3" } }),
  refused("a map's value of the wrong type", { env: { a: 1 } }),
  refused("a list with too many items", { traffic: [{ version: 1 }, { version: 2 }, { version: 3 }, { version: 4 }] }),
  refused("items with the same key", { traffic: [{ version: 1 }, { version: 1 }] }),
  refused("an item without its key", { traffic: [{ percent: 1 }] }),
  refused("a set with the same item twice", { tags: ["a", "a"] }),
  refused("neither integer nor string", { port: true }),
  refused("a time that is none", { when: "yesterday" }),
  refused("a rule that fails", { scale: { min: 7 } }),
  {
    name: "several things at once",
    steps: [
      ...declare(),
      post(THINGS, thing({ runtime: "nodejs20", memoryMB: 1, flag: "yes" }), {
        compare: ({ code, body }) => [
          code,
          (body.details.causes as { field: string }[]).map(({ field }) => field).sort(),
        ],
      }),
    ],
  },
  { name: "a required field that is missing", steps: [...declare(), post(THINGS, thing({}))] },
  {
    name: "integers and strings are both taken where the schema says so",
    steps: [
      ...declare(),
      post(THINGS, thing({ runtime: "nodejs20", port: "http" }), { compare: specOf }),
      mergePatch(T, { spec: { port: 80 } }, { compare: specOf }),
    ],
  },
  {
    name: "null is kept only where it may be",
    steps: [
      ...declare(),
      post(THINGS, thing({ runtime: "nodejs20", maybe: null, memoryMB: null, flag: null }), { compare: specOf }),
    ],
  },
  {
    name: "a transition rule compares with the old value",
    steps: [
      ...declare(),
      post(THINGS, thing({ runtime: "nodejs20", fixed: "a" }), { compare: specOf }),
      mergePatch(T, { spec: { fixed: "b" } }),
      mergePatch(T, { spec: { fixed: null } }, { compare: specOf }),
      mergePatch(T, { spec: { fixed: "c" } }, { compare: specOf }),
    ],
  },
  {
    name: "a rule without a message shows itself",
    steps: [
      ...declare({
        schema: {
          type: "object",
          properties: {
            spec: {
              type: "object",
              properties: { a: { type: "integer" } },
              "x-kubernetes-validations": [{ rule: "self.a > 1" }],
            },
          },
        },
      }),
      post(THINGS, thing({ a: 1 }), { compare: ({ body }) => body.message }),
      post(THINGS, thing({}), { compare: ({ code }) => code }),
    ],
  },
  {
    name: "a rule on the name of the resource",
    steps: [
      ...declare({
        schema: {
          type: "object",
          "x-kubernetes-validations": [
            {
              rule: "self.metadata.name.size() <= 3 && self.metadata.name.matches('^[a-z]+$')",
              message: "the name must be short",
            },
          ],
          properties: { spec: { type: "object", properties: { a: { type: "integer" } } } },
        },
      }),
      post(
        THINGS,
        { ...thing({ a: 1 }), metadata: { name: "toolong" } },
        { compare: ({ code, body }) => [code, body.message] },
      ),
      post(THINGS, thing({ a: 1 }), { compare: "code" }),
    ],
  },
  {
    name: "a rule's own message expression",
    steps: [
      ...declare({
        schema: {
          type: "object",
          properties: {
            spec: {
              type: "object",
              properties: { a: { type: "integer" } },
              "x-kubernetes-validations": [
                {
                  rule: "!has(self.a) || self.a > 1",
                  messageExpression: "'a is too ' + 'small'",
                  reason: "FieldValueForbidden",
                  fieldPath: ".a",
                },
              ],
            },
          },
        },
      }),
      post(THINGS, thing({ a: 1 }), { compare: ({ code, body }) => [code, body.message, body.details] }),
    ],
  },
  {
    name: "generation counts what is not status",
    steps: [
      ...declare(),
      post(THINGS, thing(), { compare: meta }),
      mergePatch(T, { metadata: { labels: { a: "b" } } }, { compare: meta }),
      mergePatch(T, { spec: { memoryMB: 256 } }, { compare: meta }),
      mergePatch(`${T}/status`, { status: { phase: "Ready" }, spec: { memoryMB: 512 } }, { compare: meta }),
      mergePatch(T, { status: { phase: "Broken" } }, { compare: meta }),
    ],
  },
  {
    name: "status is not written by a create",
    steps: [
      ...declare(),
      post(THINGS, thing({ runtime: "nodejs20" }, { status: { phase: "Ready" } }), { compare: meta }),
    ],
  },
  {
    name: "without a status subresource the status is a field as any",
    steps: [
      ...declare({ status: false }),
      post(THINGS, thing({ runtime: "nodejs20" }, { status: { phase: "Ready" } }), { compare: meta }),
      mergePatch(T, { status: { phase: "Broken" } }, { compare: meta }),
      get(`${T}/status`, { compare: "code" }),
    ],
  },
  {
    name: "a custom resource is scaled",
    steps: [
      ...declare(),
      create,
      get(`${T}/scale`, { compare: ({ code, body }) => [code, body.kind, body.spec, body.status] }),
      mergePatch(`${T}/scale`, { spec: { replicas: 3 } }, { compare: ({ code, body }) => [code, body.spec] }),
      get(T, { compare: meta }),
    ],
  },
  {
    name: "an update of a custom resource names its version",
    steps: [
      ...declare(),
      create,
      put(T, thing({ runtime: "python3.11" })),
      put(
        T,
        {
          ...thing({ runtime: "python3.11" }),
          metadata: { name: "t", resourceVersion: "{{t.metadata.resourceVersion}}" },
        },
        { compare: meta },
      ),
    ],
  },
  {
    name: "strategic merge of a custom resource is 415",
    steps: [...declare(), create, strategicPatch(T, { spec: {} }, { compare: reasonOnly })],
  },
  {
    name: "JSON patch of a custom resource",
    steps: [
      ...declare(),
      create,
      jsonPatch(T, [{ op: "add", path: "/spec/env", value: { a: "b" } }], { compare: specOf }),
    ],
  },
  {
    name: "apply of a custom resource",
    steps: [
      ...declare(),
      apply(T, "one", thing({ runtime: "nodejs20", env: { a: "1" } })),
      apply(T, "two", thing({ runtime: "nodejs20", env: { b: "2" } }), { compare: specOf }),
      apply(T, "one", thing({ runtime: "nodejs20" }), { compare: specOf }),
    ],
  },
  {
    name: "apply merges a list of a custom resource by its key",
    steps: [
      ...declare(),
      apply(T, "one", thing({ runtime: "nodejs20", traffic: [{ version: 1, percent: 10 }], tags: ["a"] }), {
        compare: specOf,
      }),
      apply(T, "two", thing({ runtime: "nodejs20", traffic: [{ version: 2, percent: 90 }], tags: ["b"] }), {
        compare: specOf,
      }),
      apply(T, "two", thing({ runtime: "nodejs20", traffic: [{ version: 1, percent: 90 }] }), {
        compare: ({ body }) => [body.message, body.details],
      }),
      apply(T, "one", thing({ runtime: "nodejs20" }), { compare: specOf }),
    ],
  },
  {
    name: "apply refuses fields that the schema does not have",
    steps: [...declare(), apply(T, "one", thing({ runtime: "nodejs20", nope: 1 }))],
  },
  {
    name: "apply of the status leaves the spec",
    steps: [
      ...declare(),
      create,
      apply(
        `${T}/status`,
        "status-writer",
        { apiVersion: "$GROUP/v1alpha1", kind: "Thing", metadata: { name: "t" }, status: { phase: "Ready" } },
        { compare: ({ code, body }) => [code, body.status, body.spec, body.metadata.managedFields] },
      ),
    ],
  },
  {
    name: "managers of a custom resource",
    steps: [
      ...declare(),
      post(`${THINGS}?fieldManager=creator`, thing({ runtime: "nodejs20", traffic: [{ version: 1 }] }), {
        compare: ({ body }) => body.metadata.managedFields,
      }),
      mergePatch(
        `${T}/status?fieldManager=writer`,
        { status: { phase: "X" } },
        { compare: ({ body }) => body.metadata.managedFields },
      ),
    ],
  },
  {
    name: "a table shows the definition's columns",
    steps: [
      ...declare(),
      create,
      get(T, {
        headers: { Accept: "application/json;as=Table;v=v1;g=meta.k8s.io" },
        compare: ({ body }) => [
          body.kind,
          (body.columnDefinitions as { name: string; type: string; format: string; priority: number }[]).map(
            ({ name, type, format, priority }) => [name, type, format, priority],
          ),
          body.rows[0].cells,
        ],
      }),
    ],
  },
  {
    name: "custom resources go with their definition",
    steps: [
      ...declare(),
      create,
      del(`${CRDS}/things.$GROUP`, undefined, { compare: "code" }),
      get(`${CRDS}/things.$GROUP`, { until: ({ code }) => code === 404, compare: "code" }),
      get(T, { until: ({ code }) => code === 404, compare: "code" }),
    ],
  },
];
