import { PORT_NAMES, PORTS, workloadNamespace, type FunctionVersion } from "@sless/contracts";
import type { Service } from "@sless/kube";
import { makeSelector, makeWorkloadLabels } from "./labels.js";

/** Headless: it exists for its EndpointSlices, from which the gateway dials pods by address. */
export const makeService = (version: FunctionVersion, installation: string): Service => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: {
    name: version.metadata.name,
    namespace: workloadNamespace(version.metadata.namespace ?? ""),
    labels: makeWorkloadLabels(version, installation),
  },
  spec: {
    clusterIP: "None",
    ports: [
      { name: PORT_NAMES.call, port: PORTS.call, targetPort: PORT_NAMES.call, protocol: "TCP" },
      { name: PORT_NAMES.control, port: PORTS.control, targetPort: PORT_NAMES.control, protocol: "TCP" },
    ],
    selector: makeSelector(version),
  },
});
