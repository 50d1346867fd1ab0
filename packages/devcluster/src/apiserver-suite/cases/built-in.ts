/* eslint-disable @typescript-eslint/no-unsafe-return, @typescript-eslint/no-unsafe-member-access -- answers are any JSON, and a case picks from them what it compares */
import {
  del,
  get,
  jsonPatch,
  mergePatch,
  post,
  put,
  reasonOnly,
  type Answer,
  type Select,
  type SuiteCase,
} from "../story.js";

const NS = "/api/v1/namespaces/$NS";
const DEPLOYMENTS = "/apis/apps/v1/namespaces/$NS/deployments";
const WEB = `${DEPLOYMENTS}/web`;
const JOBS = "/apis/batch/v1/namespaces/$NS/jobs";

const template = (spec: object = {}, labels: object = { app: "web" }): object => ({
  metadata: { labels },
  spec: { containers: [{ name: "c", image: "registry.test/a:1" }], ...spec },
});
const deployment = (spec: object = {}): object => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web" },
  spec: { replicas: 0, paused: true, selector: { matchLabels: { app: "web" } }, template: template(), ...spec },
});
/** Nobody schedules it, so that it stays as it was written. */
const pod = (spec: object = {}): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p" },
  spec: {
    schedulerName: "nobody",
    automountServiceAccountToken: false,
    containers: [{ name: "c", image: "registry.test/a:1" }],
    ...spec,
  },
});
const accountReady = get(`${NS}/serviceaccounts/default`, { until: ({ code }) => code === 200, compare: "none" });
const message: Select<Answer> = ({ code, body }) => [code, body.reason, body.message, body.details];
const meta: Select<Answer> = ({ code, body }) => [code, body.metadata?.generation, body.spec?.replicas];

/** Fields that admission plugins of a real cluster add. */
const ADMITTED = ["tolerations", "priority", "preemptionPolicy", "serviceAccount", "serviceAccountName"];
const podSpec: Select<Answer> = ({ code, body }) => [
  code,
  Object.fromEntries(Object.entries((body.spec ?? {}) as object).filter(([key]) => !ADMITTED.includes(key))),
  body.status?.phase,
];

export const BUILT_IN_CASES: SuiteCase[] = [
  { name: "a deployment gets its defaults", steps: [post(DEPLOYMENTS, deployment())] },
  {
    name: "a deployment without a selector is invalid",
    steps: [post(DEPLOYMENTS, deployment({ selector: undefined }), { compare: reasonOnly })],
  },
  {
    name: "a deployment's selector must match its template",
    steps: [post(DEPLOYMENTS, deployment({ template: template({}, { app: "other" }) }), { compare: message })],
  },
  {
    name: "a deployment's selector is immutable",
    steps: [
      post(DEPLOYMENTS, deployment(), { compare: "none" }),
      mergePatch(
        WEB,
        { spec: { selector: { matchLabels: { app: "b" } }, template: { metadata: { labels: { app: "b" } } } } },
        { compare: reasonOnly },
      ),
    ],
  },
  { name: "replicas are not negative", steps: [post(DEPLOYMENTS, deployment({ replicas: -1 }), { compare: message })] },
  {
    name: "a container needs a name and an image",
    steps: [post(DEPLOYMENTS, deployment({ template: template({ containers: [{}] }) }), { compare: message })],
  },
  {
    name: "container names are unique",
    steps: [
      post(
        DEPLOYMENTS,
        deployment({
          template: template({
            containers: [
              { name: "c", image: "a" },
              { name: "c", image: "b" },
            ],
          }),
        }),
        { compare: message },
      ),
    ],
  },
  {
    name: "a mount needs its volume",
    steps: [
      post(
        DEPLOYMENTS,
        deployment({
          template: template({
            containers: [{ name: "c", image: "a", volumeMounts: [{ name: "v", mountPath: "/v" }] }],
          }),
        }),
        { compare: message },
      ),
    ],
  },
  {
    name: "an environment name follows the rule",
    steps: [
      post(
        DEPLOYMENTS,
        deployment({
          template: template({ containers: [{ name: "c", image: "a", env: [{ name: "", value: "x" }] }] }),
        }),
        { compare: message },
      ),
    ],
  },
  {
    name: "a deployment's pods always restart",
    steps: [post(DEPLOYMENTS, deployment({ template: template({ restartPolicy: "Never" }) }), { compare: message })],
  },
  {
    name: "a strategy is one of two",
    steps: [post(DEPLOYMENTS, deployment({ strategy: { type: "Sometimes" } }), { compare: reasonOnly })],
  },
  {
    name: "replicas of the wrong type are 400",
    steps: [post(DEPLOYMENTS, deployment({ replicas: "two" }), { compare: reasonOnly })],
  },
  {
    name: "unknown fields deep in a template are named",
    steps: [
      post(
        `${DEPLOYMENTS}?fieldValidation=Strict`,
        deployment({ template: template({ containers: [{ name: "c", image: "a", imge: "b" }] }) }),
      ),
    ],
  },
  {
    name: "generation counts changes of the spec only",
    steps: [
      post(DEPLOYMENTS, deployment(), { compare: meta }),
      mergePatch(WEB, { metadata: { labels: { a: "b" } } }, { compare: meta }),
      mergePatch(WEB, { spec: { minReadySeconds: 5 } }, { compare: meta }),
    ],
  },
  {
    name: "scale is read and written",
    steps: [
      post(DEPLOYMENTS, deployment(), { compare: "none" }),
      get(`${WEB}/scale`),
      put(`${WEB}/scale`, {
        apiVersion: "autoscaling/v1",
        kind: "Scale",
        metadata: { name: "web", namespace: "$NS" },
        spec: { replicas: 0 },
      }),
      mergePatch(`${WEB}/scale`, { spec: { replicas: 2 } }, { compare: ({ code, body }) => [code, body.spec] }),
      get(WEB, { compare: meta }),
      mergePatch(`${WEB}/scale`, { spec: { replicas: -2 } }, { compare: message }),
    ],
  },
  {
    name: "a deployment's status is its subresource's",
    steps: [
      post(DEPLOYMENTS, { ...deployment(), status: { replicas: 7 } }, { compare: ({ body }) => body.status }),
      mergePatch(
        `${WEB}/status`,
        { status: { conditions: [{ type: "Odd", status: "True", reason: "R", message: "m" }] }, spec: { replicas: 9 } },
        { compare: ({ code, body }) => [code, body.spec.replicas, body.status.conditions[0].type] },
      ),
    ],
  },
  {
    name: "a replica set gets its defaults",
    steps: [
      post("/apis/apps/v1/namespaces/$NS/replicasets", {
        apiVersion: "apps/v1",
        kind: "ReplicaSet",
        metadata: { name: "rs" },
        spec: { replicas: 0, selector: { matchLabels: { app: "web" } }, template: template() },
      }),
    ],
  },
  {
    name: "a job gets its defaults and selector",
    steps: [
      post(
        JOBS,
        {
          apiVersion: "batch/v1",
          kind: "Job",
          metadata: { name: "j" },
          spec: { suspend: true, template: template({ restartPolicy: "Never" }, {}) },
        },
        { compare: ({ code, body }) => [code, body.spec] },
      ),
    ],
  },
  {
    name: "a job's pods do not always restart",
    steps: [
      post(
        JOBS,
        {
          apiVersion: "batch/v1",
          kind: "Job",
          metadata: { name: "j" },
          spec: { suspend: true, template: template({ restartPolicy: "Always" }, {}) },
        },
        { compare: message },
      ),
    ],
  },
  {
    name: "a job's template is immutable",
    steps: [
      post(
        JOBS,
        {
          apiVersion: "batch/v1",
          kind: "Job",
          metadata: { name: "j" },
          spec: { suspend: false, parallelism: 0, template: template({ restartPolicy: "Never" }, {}) },
        },
        { compare: "code" },
      ),
      jsonPatch(`${JOBS}/j`, [{ op: "replace", path: "/spec/template/spec/containers/0/image", value: "other" }], {
        compare: reasonOnly,
      }),
    ],
  },
  {
    name: "a cron job gets its defaults",
    steps: [
      post(
        "/apis/batch/v1/namespaces/$NS/cronjobs",
        {
          apiVersion: "batch/v1",
          kind: "CronJob",
          metadata: { name: "cj" },
          spec: {
            schedule: "0 0 1 1 *",
            suspend: true,
            jobTemplate: { spec: { template: template({ restartPolicy: "Never" }, {}) } },
          },
        },
        { compare: ({ code, body }) => [code, body.spec] },
      ),
    ],
  },
  {
    name: "a cron job's schedule is checked",
    steps: [
      post(
        "/apis/batch/v1/namespaces/$NS/cronjobs",
        {
          apiVersion: "batch/v1",
          kind: "CronJob",
          metadata: { name: "cj" },
          spec: { schedule: "often", jobTemplate: { spec: { template: template({ restartPolicy: "Never" }, {}) } } },
        },
        { compare: message },
      ),
    ],
  },
  {
    name: "a pod gets its defaults",
    steps: [
      accountReady,
      post(
        `${NS}/pods`,
        pod({
          containers: [
            {
              name: "c",
              image: "registry.test/a",
              ports: [{ containerPort: 80 }],
              resources: { limits: { cpu: "1", memory: "64Mi" } },
              readinessProbe: { httpGet: { port: 80 } },
              env: [{ name: "N", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
            },
          ],
          volumes: [{ name: "e" }, { name: "s", secret: { secretName: "x" } }],
        }),
        { compare: podSpec },
      ),
    ],
  },
  {
    name: "a pod's spec is immutable but for its image",
    steps: [
      accountReady,
      post(`${NS}/pods`, pod(), { compare: "code" }),
      mergePatch(`${NS}/pods/p`, { spec: { hostNetwork: true } }, { compare: reasonOnly }),
      jsonPatch(`${NS}/pods/p`, [{ op: "replace", path: "/spec/containers/0/image", value: "registry.test/a:2" }], {
        compare: ({ code, body }) => [code, body.spec.containers[0].image],
      }),
    ],
  },
  {
    name: "a pod that no node took is deleted at once",
    steps: [
      accountReady,
      post(`${NS}/pods`, pod(), { compare: "code" }),
      del(`${NS}/pods/p`, undefined, { compare: ({ code, body }) => [code, body.kind] }),
      get(`${NS}/pods/p`, { compare: "code" }),
    ],
  },
  { name: "logs of an absent pod are 404", steps: [get(`${NS}/pods/none/log`)] },
  {
    name: "logs of an unknown container are refused",
    steps: [
      accountReady,
      post(`${NS}/pods`, pod(), { compare: "code" }),
      get(`${NS}/pods/p/log?container=none`, { compare: reasonOnly }),
    ],
  },
  {
    name: "a headless service gets its defaults",
    steps: [
      post(`${NS}/services`, {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "s" },
        spec: {
          clusterIP: "None",
          selector: { a: "b" },
          ports: [
            { name: "call", port: 8080 },
            { name: "control", port: 8081, targetPort: "control" },
          ],
        },
      }),
    ],
  },
  {
    name: "a service's ports are named when there are two",
    steps: [
      post(
        `${NS}/services`,
        {
          apiVersion: "v1",
          kind: "Service",
          metadata: { name: "s" },
          spec: { clusterIP: "None", ports: [{ port: 80 }, { port: 81 }] },
        },
        { compare: message },
      ),
    ],
  },
  {
    name: "a service's name is a DNS label",
    steps: [
      post(
        `${NS}/services`,
        {
          apiVersion: "v1",
          kind: "Service",
          metadata: { name: "1s" },
          spec: { clusterIP: "None", ports: [{ port: 80 }] },
        },
        { compare: message },
      ),
    ],
  },
  {
    name: "a service with an address of its own is refused",
    ownBehaviour: "nothing routes virtual addresses here",
    steps: [
      post(`${NS}/services`, {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "s" },
        spec: { ports: [{ port: 80 }] },
      }),
    ],
  },
  {
    name: "stringData becomes data",
    steps: [
      post(`${NS}/secrets`, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "s" },
        data: { a: "YQ==" },
        stringData: { b: "text" },
      }),
    ],
  },
  {
    name: "a secret's data is base64",
    steps: [
      post(
        `${NS}/secrets`,
        { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, data: { a: "not base64!" } },
        { compare: reasonOnly },
      ),
    ],
  },
  {
    name: "a secret's type is immutable",
    steps: [
      post(`${NS}/secrets`, { apiVersion: "v1", kind: "Secret", metadata: { name: "s" } }, { compare: "code" }),
      mergePatch(`${NS}/secrets/s`, { type: "other" }, { compare: message }),
    ],
  },
  {
    name: "a lease keeps microseconds",
    steps: [
      post(
        "/apis/coordination.k8s.io/v1/namespaces/$NS/leases",
        {
          apiVersion: "coordination.k8s.io/v1",
          kind: "Lease",
          metadata: { name: "l" },
          spec: {
            holderIdentity: "me",
            leaseDurationSeconds: 15,
            renewTime: "2025-01-02T03:04:05.123456Z",
            leaseTransitions: 0,
          },
        },
        { compare: ({ code, body }) => [code, (body.spec.renewTime as string).length, body.spec.holderIdentity] },
      ),
      post(
        "/apis/coordination.k8s.io/v1/namespaces/$NS/leases",
        {
          apiVersion: "coordination.k8s.io/v1",
          kind: "Lease",
          metadata: { name: "m" },
          spec: { leaseDurationSeconds: 0 },
        },
        { compare: message },
      ),
    ],
  },
  {
    name: "an endpoint slice needs its address type",
    steps: [
      post(
        "/apis/discovery.k8s.io/v1/namespaces/$NS/endpointslices",
        { apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", metadata: { name: "e" }, endpoints: [] },
        { compare: reasonOnly },
      ),
      post(
        "/apis/discovery.k8s.io/v1/namespaces/$NS/endpointslices",
        {
          apiVersion: "discovery.k8s.io/v1",
          kind: "EndpointSlice",
          metadata: { name: "e" },
          addressType: "IPv4",
          ports: [{ port: 80 }],
          endpoints: [{ addresses: ["192.0.2.1"], conditions: { ready: true } }],
        },
        { compare: ({ code, body }) => [code, body.ports, body.endpoints] },
      ),
    ],
  },
  {
    name: "an event is kept as it is",
    steps: [
      post(
        `${NS}/events`,
        {
          apiVersion: "v1",
          kind: "Event",
          metadata: { name: "e" },
          involvedObject: { kind: "Pod", name: "p", namespace: "$NS" },
          reason: "R",
          message: "m",
          type: "Normal",
          source: { component: "suite" },
        },
        { compare: ({ code, body }) => [code, body.involvedObject, body.reason, body.source] },
      ),
      get(`${NS}/events?fieldSelector=involvedObject.name%3Dp`, {
        compare: ({ body }) => (body.items as object[]).length,
      }),
    ],
  },
  {
    name: "kinds that are not enforced say so",
    ownBehaviour: "a real cluster enforces them",
    steps: [
      post(
        "/apis/networking.k8s.io/v1/namespaces/$NS/networkpolicies",
        {
          apiVersion: "networking.k8s.io/v1",
          kind: "NetworkPolicy",
          metadata: { name: "n" },
          spec: { podSelector: {} },
        },
        { compare: ({ code, warnings }) => [code, warnings] },
      ),
    ],
  },
];
