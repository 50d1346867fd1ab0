import type { KubeObject } from "../../store/types.js";
import {
  ENDPOINT_SLICES,
  isControlledBy,
  keyOf,
  PODS,
  SERVICES,
  splitKey,
  type Pod,
  type Service,
} from "../objects.js";
import { itself, itsOwner, startController, type Controller, type ControllerDeps } from "./controller.js";
import { makeEndpointSlices } from "./endpoints.js";

const selects = ({ spec }: Service, labels: Readonly<Record<string, string>> | undefined): boolean => {
  const selector = Object.entries(spec?.selector ?? {});
  return selector.length > 0 && selector.every(([key, value]) => labels?.[key] === value);
};

/** Keeps the EndpointSlices of services with a selector in step with the pods behind them. */
export const startEndpointSliceController = (deps: ControllerDeps): Controller => {
  const { store } = deps;
  const servicesOf = ({ metadata }: KubeObject): string[] =>
    (store.list(SERVICES, { namespace: metadata.namespace }).items as readonly Service[])
      .filter((service) => selects(service, metadata.labels))
      .map(keyOf);
  /** A pod whose labels changed stands in a slice of a service that no longer selects it. */
  const servicesThatName = (pod: KubeObject): string[] =>
    store
      .list(ENDPOINT_SLICES, { namespace: pod.metadata.namespace })
      .items.filter((slice) =>
        (slice["endpoints"] as Endpoint[]).some(({ targetRef }) => targetRef?.uid === pod.metadata.uid),
      )
      .flatMap(itsOwner("Service"));

  const write = (slice: KubeObject): void => {
    const { namespace, name, labels } = slice.metadata;
    const existing = store.get(ENDPOINT_SLICES, namespace, name);
    if (!existing) store.create(ENDPOINT_SLICES, slice);
    else
      store.update(ENDPOINT_SLICES, {
        ...existing,
        ...slice,
        metadata: { ...existing.metadata, labels: labels ?? {} },
      });
  };

  const rules = [
    { type: SERVICES, keysOf: itself },
    { type: PODS, keysOf: (pod: KubeObject) => [...servicesOf(pod), ...servicesThatName(pod)] },
    { type: ENDPOINT_SLICES, keysOf: itsOwner("Service") },
  ];
  return startController(deps, "endpoint-slice", rules, () => (key) => {
    const { namespace, name } = splitKey(key);
    const service = store.get(SERVICES, namespace, name) as Service | undefined;
    if (!service?.spec?.selector || service.metadata.deletionTimestamp) return;
    const wanted = makeEndpointSlices(service, store.list(PODS, { namespace }).items as readonly Pod[]);
    const names = new Set(wanted.map(({ metadata }) => metadata.name));
    for (const slice of wanted) write(slice);
    for (const slice of store.list(ENDPOINT_SLICES, { namespace }).items) {
      const isStale = isControlledBy(slice, service) && !names.has(slice.metadata.name);
      if (isStale) store.delete(ENDPOINT_SLICES, namespace, slice.metadata.name, { uid: slice.metadata.uid });
    }
  });
};

interface Endpoint {
  targetRef?: { uid?: string };
}
