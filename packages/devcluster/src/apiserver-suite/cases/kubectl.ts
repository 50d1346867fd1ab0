/* eslint-disable @typescript-eslint/no-unsafe-return, @typescript-eslint/no-unsafe-member-access -- answers are any JSON, and a case picks from them what it compares */
import { CONFIG_MAPS, configMap, get, mergePatch, post, type KubectlStep, type SuiteCase } from "../story.js";

const kubectl = (args: string, stdin?: unknown, compare?: KubectlStep["compare"]): KubectlStep => ({
  kubectl: [...args.split(" "), "-n", "$NS"],
  ...(stdin === undefined ? {} : { stdin }),
  ...(compare === undefined ? {} : { compare }),
});

const deployment = (image: string, more: object = {}): object => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", labels: { app: "web" } },
  spec: {
    replicas: 0,
    paused: true,
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: { containers: [{ name: "c", image, ports: [{ containerPort: 80 }], env: [{ name: "A", value: "1" }] }] },
    },
    ...more,
  },
});

/** What takes its value from the clock is left out. */
const withoutTimes = (output: string): string =>
  output
    .split("\n")
    .filter(
      (line) =>
        !/CreationTimestamp|^Events|Progressing|Available|NewReplicaSet|OldReplicaSets|Conditions|^ {2}(Type|----)|revision/.test(
          line,
        ),
    )
    .map((line) =>
      line
        .replace(/\b\d+(s|m\d*s?)\b/g, "<age>")
        .replace(/ +/g, " ")
        .trim(),
    )
    .join("\n");

const replicatedKinds = (output: string): string[] =>
  output
    .split("\n")
    .filter((line) => /^(deployments|replicasets)/.test(line))
    .map((line) => line.replace(/ +/g, " "));

export const KUBECTL_CASES: SuiteCase[] = [
  {
    name: "kubectl get lists as a table",
    steps: [
      post(CONFIG_MAPS, configMap("a", { k: "v" }), { compare: "none" }),
      kubectl("get configmap a", undefined, withoutTimes),
      kubectl("get configmap a -o name"),
      kubectl("get configmap a -o jsonpath={.data.k}"),
    ],
  },
  { name: "kubectl get of nothing fails", steps: [kubectl("get configmap none"), kubectl("get nonsense")] },
  {
    name: "kubectl apply creates, leaves and changes",
    steps: [
      kubectl("apply -f -", deployment("registry.test/a:1")),
      kubectl("apply -f -", deployment("registry.test/a:1")),
      kubectl("apply -f -", deployment("registry.test/a:2")),
      kubectl("get deployment web -o jsonpath={.spec.template.spec.containers[0].image}"),
    ],
  },
  {
    name: "kubectl apply removes what the file dropped",
    steps: [
      kubectl("apply -f -", configMap("a", { k: "v", l: "w" })),
      kubectl("apply -f -", configMap("a", { k: "v" })),
      get(`${CONFIG_MAPS}/a`, { compare: ({ body }) => body.data }),
    ],
  },
  {
    name: "kubectl apply on the server's side",
    steps: [
      kubectl("apply --server-side -f -", deployment("registry.test/a:1")),
      kubectl("apply --server-side -f -", deployment("registry.test/a:1")),
      mergePatch(
        "/apis/apps/v1/namespaces/$NS/deployments/web?fieldManager=editor",
        { metadata: { labels: { app: "other" } } },
        { compare: "code" },
      ),
      kubectl("apply --server-side -f -", deployment("registry.test/a:1")),
      kubectl("apply --server-side --force-conflicts -f -", deployment("registry.test/a:1")),
    ],
  },
  {
    name: "kubectl apply names unknown fields",
    steps: [kubectl("apply -f -", { ...configMap("a"), dat: { k: "v" } })],
  },
  {
    name: "kubectl diff shows and exits 1",
    steps: [
      kubectl("apply -f -", configMap("a", { k: "v" })),
      kubectl("diff -f -", configMap("a", { k: "v" })),
      kubectl("diff -f -", configMap("a", { k: "w" }), "code"),
    ],
  },
  {
    name: "kubectl create from a file",
    steps: [kubectl("create -f -", configMap("a", { k: "v" })), kubectl("create -f -", configMap("a", { k: "v" }))],
  },
  {
    name: "kubectl patch of each type",
    steps: [
      kubectl("create -f -", deployment("registry.test/a:1")),
      kubectl('patch deployment web -p {"spec":{"minReadySeconds":3}}'),
      kubectl('patch deployment web --type=merge -p {"spec":{"minReadySeconds":4}}'),
      kubectl('patch deployment web --type=json -p [{"op":"replace","path":"/spec/minReadySeconds","value":5}]'),
      kubectl("get deployment web -o jsonpath={.spec.minReadySeconds}"),
    ],
  },
  {
    name: "kubectl label and annotate",
    steps: [
      post(CONFIG_MAPS, configMap("a"), { compare: "none" }),
      kubectl("label configmap a x=1"),
      kubectl("label configmap a x=2"),
      kubectl("label configmap a x=2 --overwrite"),
      kubectl("annotate configmap a y=z"),
      kubectl("label configmap a x-"),
    ],
  },
  {
    name: "kubectl scale",
    steps: [
      kubectl("create -f -", deployment("registry.test/a:1")),
      kubectl("scale deployment web --replicas=0"),
      kubectl("scale deployment web --replicas=1 --current-replicas=5"),
      kubectl("get deployment web -o jsonpath={.spec.replicas}"),
    ],
  },
  {
    name: "kubectl describe a deployment",
    steps: [
      kubectl("create -f -", deployment("registry.test/a:1")),
      kubectl("describe deployment web", undefined, (output) => withoutTimes(output).split("Replicas:")[0]),
    ],
  },
  {
    name: "kubectl describe a config map and a secret",
    steps: [
      post(CONFIG_MAPS, configMap("a", { k: "v" }), { compare: "none" }),
      kubectl("describe configmap a"),
      post(
        "/api/v1/namespaces/$NS/secrets",
        { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, stringData: { k: "v" } },
        { compare: "none" },
      ),
      kubectl("describe secret s"),
    ],
  },
  {
    name: "kubectl delete waits until it is gone",
    steps: [
      kubectl("create -f -", configMap("a")),
      kubectl("delete configmap a"),
      kubectl("delete configmap a"),
      kubectl("delete configmap a --ignore-not-found"),
    ],
  },
  {
    name: "kubectl delete by selector",
    steps: [
      post(CONFIG_MAPS, configMap("a", {}, { labels: { x: "1" } }), { compare: "none" }),
      post(CONFIG_MAPS, configMap("b", {}, { labels: { x: "1" } }), { compare: "none" }),
      kubectl("delete configmap -l x=1"),
    ],
  },
  {
    name: "kubectl wait for a field and a deletion",
    steps: [
      post(CONFIG_MAPS, configMap("a", { k: "v" }), { compare: "none" }),
      kubectl("wait --for=jsonpath={.data.k}=v configmap/a --timeout=10s"),
      kubectl("wait --for=jsonpath={.data.k}=w configmap/a --timeout=1s"),
      kubectl("wait --for=delete configmap/none --timeout=5s"),
    ],
  },
  {
    name: "kubectl explain",
    steps: [kubectl("explain deployment.spec.strategy.type", undefined, (output) => output.split("\n").slice(0, 5))],
  },
  {
    name: "kubectl replace",
    steps: [
      kubectl("create -f -", configMap("a", { k: "v" })),
      kubectl("replace -f -", configMap("a", { k: "w" })),
      kubectl("get configmap a -o jsonpath={.data.k}"),
    ],
  },
  { name: "kubectl logs of a pod that is not there", steps: [kubectl("logs none")] },
  {
    name: "kubectl api-resources knows short names",
    steps: [
      {
        kubectl: ["api-resources", "--api-group=apps", "--no-headers"],
        compare: replicatedKinds,
      },
    ],
  },
];
