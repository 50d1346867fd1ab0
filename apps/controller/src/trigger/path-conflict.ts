import { TriggerSpec, type Trigger } from "@sless/contracts";

/** Paths match by whole segments, so a trailing slash says nothing. */
const normalPath = (path: string): string => path.replace(/\/+$/, "") || "/";

const pathOf = ({ spec }: Trigger): string => normalPath(TriggerSpec.safeParse(spec).data?.http.path ?? "/");

const age = ({ metadata }: Trigger): string =>
  `${metadata.creationTimestamp ?? ""} ${metadata.name} ${metadata.uid ?? ""}`;

/**
 * The older trigger of the same tenant that has the same host and path, if there is one: the older one wins (D28).
 * @param rivals other triggers of the tenant that are enabled and want the same host.
 */
export const olderRival = (trigger: Trigger, rivals: readonly Trigger[]): Trigger | undefined =>
  rivals.find(
    (rival) =>
      rival.metadata.uid !== trigger.metadata.uid && pathOf(rival) === pathOf(trigger) && age(rival) < age(trigger),
  );
