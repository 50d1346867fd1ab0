import { isObject, type JsonObject } from "../../schema/schema.js";
import { listAt } from "../../table/read.js";

/** Sets what is absent; what is there stays. */
export const setDefaults = (target: JsonObject, defaults: JsonObject): void => {
  for (const [key, value] of Object.entries(defaults)) target[key] ??= structuredClone(value);
};

/** No tag, or the tag `latest`, may change under its name; a digest cannot. */
const pullPolicy = (image: string): string => {
  if (image.includes("@")) return "IfNotPresent";
  const tag = /:([^:/]+)$/.exec(image)?.[1] ?? "latest";
  return tag === "latest" ? "Always" : "IfNotPresent";
};

const HTTP_GET_DEFAULTS = { path: "/", scheme: "HTTP" };

const defaultHandler = (handler: unknown): void => {
  if (isObject(handler) && isObject(handler["httpGet"])) setDefaults(handler["httpGet"], HTTP_GET_DEFAULTS);
};

const defaultProbe = (probe: unknown): void => {
  if (!isObject(probe)) return;
  setDefaults(probe, { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 });
  defaultHandler(probe);
};

const defaultContainer = (container: JsonObject): void => {
  const { image } = container;
  setDefaults(container, {
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    imagePullPolicy: pullPolicy(typeof image === "string" ? image : ""),
    resources: {},
  });
  for (const port of listAt(container, "ports")) setDefaults(port, { protocol: "TCP" });
  for (const probe of ["livenessProbe", "readinessProbe", "startupProbe"]) defaultProbe(container[probe]);
  const { lifecycle } = container;
  if (isObject(lifecycle)) for (const hook of ["postStart", "preStop"]) defaultHandler(lifecycle[hook]);
  for (const { valueFrom } of listAt(container, "env"))
    if (isObject(valueFrom) && isObject(valueFrom["fieldRef"]))
      setDefaults(valueFrom["fieldRef"], { apiVersion: "v1" });
};

/** Sources whose files get mode 0644 where nothing else is said. */
const MODED_SOURCES = ["secret", "configMap", "downwardAPI", "projected"];
const DEFAULT_MODE = 0o644;

const defaultVolume = (volume: JsonObject): void => {
  if (Object.keys(volume).every((key) => key === "name")) volume["emptyDir"] = {};
  for (const source of MODED_SOURCES) {
    const found = volume[source];
    if (isObject(found)) setDefaults(found, { defaultMode: DEFAULT_MODE });
  }
};

/** SetDefaults_PodSpec and what hangs below it (k8s.io/kubernetes/pkg/apis/core/v1/defaults.go). */
export const defaultPodSpec = (spec: unknown): void => {
  if (!isObject(spec)) return;
  setDefaults(spec, {
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
    dnsPolicy: "ClusterFirst",
    securityContext: {},
    schedulerName: "default-scheduler",
  });
  if (typeof spec["serviceAccountName"] === "string") setDefaults(spec, { serviceAccount: spec["serviceAccountName"] });
  for (const container of [...listAt(spec, "containers"), ...listAt(spec, "initContainers")])
    defaultContainer(container);
  for (const volume of listAt(spec, "volumes")) defaultVolume(volume);
};

/** What a limit without a request means, for pods themselves. */
export const defaultRequests = (spec: unknown): void => {
  for (const { resources } of listAt(spec, "containers")) {
    if (!isObject(resources) || !isObject(resources["limits"])) continue;
    resources["requests"] = { ...resources["limits"], ...(resources["requests"] as JsonObject | undefined) };
  }
};
