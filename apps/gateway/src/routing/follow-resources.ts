import { FUNCTIONS, LABELS, TRIGGERS, type Function, type Trigger } from "@sless/contracts";
import { addressesOf, versionUidOf, type EndpointAddress, type EndpointSlice, type Invoker } from "@sless/invoker";
import { createInformer, endpointSlices, type Informer, type KubeClient, type Logger } from "@sless/kube";
import { selectFunction, selectTrigger, type FunctionView, type TriggerView } from "./routes.js";
import type { RoutingTable } from "./routing-table.js";

/** What is kept of an EndpointSlice. */
interface SliceView {
  readonly namespace: string;
  readonly versionUid: string;
  readonly addresses: readonly EndpointAddress[];
}

interface Deps {
  readonly client: Pick<KubeClient, "list" | "watch">;
  readonly logger: Logger;
  readonly table: RoutingTable;
  readonly invoker: Pick<Invoker, "setEndpoints">;
}

/** The informers that feed routing. */
export interface Sources {
  readonly functions: Informer<FunctionView>;
  readonly triggers: Informer<TriggerView | undefined>;
  readonly slices: Informer<SliceView | undefined>;
}

const selectSlice = (slice: EndpointSlice): SliceView | undefined => {
  const versionUid = versionUidOf(slice);
  if (versionUid === undefined) return undefined;
  return { namespace: slice.metadata.namespace ?? "", versionUid, addresses: addressesOf(slice) };
};

/** Several slices may name pods of one version; a change of one sets the union of all. */
const followSlices = (slices: Informer<SliceView | undefined>, invoker: Pick<Invoker, "setEndpoints">): void => {
  const refresh = ({ namespace, versionUid }: SliceView): void => {
    const together = slices.byIndex("version", `${namespace}/${versionUid}`);
    invoker.setEndpoints(
      namespace,
      versionUid,
      together.flatMap((slice) => slice?.addresses ?? []),
    );
  };
  slices.addHandler({
    onAdd: (slice) => slice && refresh(slice),
    onUpdate: (slice, old) => {
      if (old !== undefined && old.versionUid !== slice?.versionUid) refresh(old);
      if (slice !== undefined) refresh(slice);
    },
    onDelete: (old) => old && refresh(old),
  });
};

/**
 * Feeds table and invoker from the API server: Functions and Triggers of all tenants, and the EndpointSlices of all
 * versions. While the API server is away the last state stands.
 */
export const followResources = ({ client, logger, table, invoker }: Deps): Sources => {
  const functions = createInformer<Function, FunctionView>({
    client,
    resource: FUNCTIONS,
    logger,
    select: selectFunction,
  });
  const triggers = createInformer<Trigger, TriggerView | undefined>({
    ...{ client, resource: TRIGGERS, logger, select: selectTrigger },
  });
  const slices = createInformer<EndpointSlice, SliceView | undefined>({
    ...{ client, resource: endpointSlices as never, logger, select: selectSlice, labelSelector: LABELS.versionUid },
    indexes: { version: (slice) => (slice === undefined ? [] : [`${slice.namespace}/${slice.versionUid}`]) },
  });
  functions.addHandler({
    onAdd: (view, key) => table.setFunction(key, view),
    onUpdate: (view, _old, key) => table.setFunction(key, view),
    onDelete: (_old, key) => table.setFunction(key, undefined),
  });
  triggers.addHandler({
    onAdd: (view, key) => table.setTrigger(key, view),
    onUpdate: (view, _old, key) => table.setTrigger(key, view),
    onDelete: (_old, key) => table.setTrigger(key, undefined),
  });
  followSlices(slices, invoker);
  return { functions, triggers, slices };
};
