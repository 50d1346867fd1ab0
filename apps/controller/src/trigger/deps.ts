import { TriggerSpec, type Trigger } from "@sless/contracts";
import type { Clock, KubeClient } from "@sless/kube";
import type { Caches } from "../caches.js";
import type { StatusWriter } from "../status/write-status.js";
import { wantedHost, type HostRules } from "./host-policy.js";

export interface TriggerDeps {
  readonly caches: Pick<Caches, "tenants" | "functions" | "triggers" | "hostClaims">;
  readonly client: Pick<KubeClient, "get" | "create" | "delete" | "mergePatch">;
  readonly writeStatus: StatusWriter;
  readonly rules: HostRules;
  /** Scheme and port of functions' URLs. */
  readonly url: { readonly scheme: string; readonly port: string | undefined };
  readonly systemNamespace: string;
  readonly installation: string;
  readonly clock: Clock;
}

/** Canonical host that a trigger asks for; undefined when its spec or host is none. */
export const hostOf = (trigger: Trigger, rules: HostRules): string | undefined => {
  const spec = TriggerSpec.safeParse(trigger.spec).data;
  if (!spec) return undefined;
  const tenant = trigger.metadata.namespace ?? "";
  return wantedHost({ host: spec.http.host, functionName: spec.functionRef.name, tenant }, rules);
};
