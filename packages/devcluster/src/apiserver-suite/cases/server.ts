/* eslint-disable @typescript-eslint/no-unsafe-return, @typescript-eslint/no-unsafe-member-access, @typescript-eslint/no-unsafe-call -- answers are any JSON, and a case picks from them what it compares */
import { CONFIG_MAPS, configMap, get, post, type Answer, type Select, type SuiteCase } from "../story.js";

interface NamedResource {
  name: string;
  storageVersionHash?: string;
}

/** Of a real cluster's discovery, what this one serves too. */
const among =
  (names: readonly string[]): Select<Answer> =>
  ({ code, body }) => [
    code,
    body.groupVersion,
    (body.resources as NamedResource[])
      .filter(({ name }) => names.includes(name))
      .map((resource) => ({ ...resource, storageVersionHash: undefined })),
  ];

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";

interface Column {
  name: string;
  type: string;
  format: string;
  priority: number;
}

const columns = (path: string) =>
  get(`${path}?labelSelector=none`, {
    headers: { Accept: TABLE },
    compare: ({ body }) =>
      (body.columnDefinitions as Column[]).map(({ name, type, format, priority }) => [name, type, format, priority]),
  });

const statusOnly: Select<Answer> = ({ code, body }) => [code, body.kind, body.reason];

export const SERVER_CASES: SuiteCase[] = [
  { name: "health endpoints answer ok", steps: [get("/healthz"), get("/livez"), get("/readyz")] },
  {
    name: "/api names its version",
    steps: [get("/api", { compare: ({ code, body }) => [code, body.kind, body.versions] })],
  },
  {
    name: "discovery of the core group",
    steps: [
      get("/api/v1", {
        compare: among([
          "namespaces",
          "pods",
          "pods/log",
          "pods/status",
          "services",
          "secrets",
          "configmaps",
          "events",
          "nodes",
          "serviceaccounts",
        ]),
      }),
    ],
  },
  {
    name: "discovery of apps",
    steps: [
      get("/apis/apps/v1", {
        compare: among(["deployments", "deployments/scale", "deployments/status", "replicasets"]),
      }),
      get("/apis/apps"),
    ],
  },
  {
    name: "discovery of batch",
    steps: [get("/apis/batch/v1", { compare: among(["jobs", "jobs/status", "cronjobs"]) })],
  },
  {
    name: "discovery of leases and endpoint slices",
    steps: [
      get("/apis/coordination.k8s.io/v1", { compare: among(["leases"]) }),
      get("/apis/discovery.k8s.io/v1", { compare: among(["endpointslices"]) }),
    ],
  },
  {
    name: "aggregated discovery",
    steps: [
      get("/apis", {
        headers: { Accept: AGGREGATED },
        compare: ({ body }) => {
          const apps = (
            body.items as { metadata: { name: string }; versions: { resources: { resource: string }[] }[] }[]
          ).find(({ metadata }) => metadata.name === "apps");
          return [
            body.kind,
            body.apiVersion,
            apps?.versions[0]?.resources.filter(({ resource }) => resource === "deployments"),
          ];
        },
      }),
    ],
  },
  {
    name: "OpenAPI has the schema of a deployment",
    steps: [
      get("/openapi/v3/apis/apps/v1", {
        compare: ({ code, body }) => [
          code,
          body.openapi,
          Object.keys(body.components.schemas["io.k8s.api.apps.v1.DeploymentSpec"].properties as object).sort(),
          body.components.schemas["io.k8s.api.apps.v1.DeploymentSpec"].required,
        ],
      }),
    ],
  },
  { name: "an unknown resource is 404", steps: [get("/api/v1/namespaces/$NS/nonsense", { compare: statusOnly })] },
  { name: "an unknown group is 404", steps: [get("/apis/none.test/v1/things", { compare: "code" })] },
  {
    name: "a method that a resource does not have is 405",
    steps: [
      { method: "PUT", path: CONFIG_MAPS, body: configMap("a"), compare: statusOnly },
      { method: "POST", path: `${CONFIG_MAPS}/a`, body: configMap("a"), compare: statusOnly },
    ],
  },
  {
    name: "what is served elsewhere but not here is refused",
    ownBehaviour: "a real cluster serves them",
    steps: [
      get("/apis/apps/v1/namespaces/$NS/statefulsets"),
      post("/apis/authorization.k8s.io/v1/subjectaccessreviews", {}),
      post("/api/v1/namespaces/$NS/pods/p/exec?command=sh", undefined, { compare: statusOnly }),
      get("/api/v1/namespaces/$NS/pods/p/portforward"),
    ],
  },
  {
    name: "acting as somebody else is refused",
    ownBehaviour: "a real cluster knows users",
    steps: [get("/api/v1/namespaces", { headers: { "Impersonate-User": "jane" } })],
  },
  {
    name: "a wrong secret is 401",
    steps: [get("/api/v1/namespaces", { headers: { Authorization: "Bearer wrong" } })],
    ownBehaviour: "a client certificate may stand for the token on a real cluster",
  },
  { name: "columns of pods", steps: [columns("/api/v1/namespaces/$NS/pods")] },
  { name: "columns of deployments", steps: [columns("/apis/apps/v1/namespaces/$NS/deployments")] },
  {
    name: "columns of other kinds",
    steps: ["services", "secrets", "configmaps", "events", "serviceaccounts", "resourcequotas", "limitranges"].map(
      (plural) => columns(`/api/v1/namespaces/$NS/${plural}`),
    ),
  },
  {
    name: "columns of jobs and cron jobs",
    steps: [columns("/apis/batch/v1/namespaces/$NS/jobs"), columns("/apis/batch/v1/namespaces/$NS/cronjobs")],
  },
  {
    name: "columns of further groups",
    steps: [
      columns("/apis/coordination.k8s.io/v1/namespaces/$NS/leases"),
      columns("/apis/discovery.k8s.io/v1/namespaces/$NS/endpointslices"),
      columns("/apis/networking.k8s.io/v1/namespaces/$NS/ingresses"),
      columns("/apis/rbac.authorization.k8s.io/v1/namespaces/$NS/rolebindings"),
      columns("/api/v1/namespaces"),
      columns("/api/v1/nodes"),
    ],
  },
  {
    name: "a table's rows carry metadata",
    steps: [
      post(CONFIG_MAPS, configMap("a", { k: "v" }), { compare: "none" }),
      get(`${CONFIG_MAPS}/a`, {
        headers: { Accept: TABLE },
        compare: ({ body }) => [
          body.kind,
          body.rows[0].cells.slice(0, 2),
          body.rows[0].object.kind,
          body.rows[0].object.metadata.name,
        ],
      }),
      get(`${CONFIG_MAPS}/a?includeObject=None`, {
        headers: { Accept: TABLE },
        compare: ({ body }) => body.rows[0].object ?? null,
      }),
    ],
  },
];
