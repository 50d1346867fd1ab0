import {
  canonicalHost,
  TRIGGERS,
  TriggerSettings,
  type CreateTrigger,
  type PatchTrigger,
  type Trigger,
} from "@sless/contracts";
import { invalidField } from "../errors.js";
import { parseBody } from "../http/field-errors.js";
import type { Change, ItemKey, Items, WriteIntent } from "../resources/items.js";
import { applyMergePatch, makeMergePatch } from "../resources/merge-patch.js";
import { toSettings, toSpec } from "./dto.js";

/** Use cases of triggers. A trigger may come before its function; it follows it. */
export interface Triggers {
  create(namespace: string, input: CreateTrigger, intent: WriteIntent): Promise<Trigger>;
  replace(key: ItemKey, settings: TriggerSettings, intent: WriteIntent): Promise<Trigger>;
  /** Sets what the patch names; null restores a default. */
  patch(key: ItemKey, patch: PatchTrigger, intent: WriteIntent): Promise<Trigger>;
}

/** Hosts are compared only in canonical form (security 1); whose a host is, the controller decides. */
const refuseOddHost = ({ http }: TriggerSettings): void => {
  if (http.host === undefined || canonicalHost(http.host) === http.host) return;
  throw invalidField(
    "/http/host",
    "must be a host name in lower case, without port or trailing dot, such as api.example.com",
  );
};

const makeChange = (current: Trigger, settings: TriggerSettings, exact: boolean): Change => {
  refuseOddHost(settings);
  const spec = makeMergePatch(current.spec, toSpec(settings));
  return { patch: Object.keys(spec).length > 0 ? { spec } : {}, exact };
};

export const createTriggers = (items: Items<Trigger>): Triggers => ({
  create: async (namespace, { name, ...settings }, intent) => {
    refuseOddHost(settings);
    return items.create(
      {
        apiVersion: `${TRIGGERS.group}/${TRIGGERS.version}`,
        kind: "Trigger",
        metadata: { name, namespace },
        spec: toSpec(settings),
      },
      intent,
    );
  },

  // eslint-disable-next-line @typescript-eslint/require-await -- throws into the promise
  replace: (key, settings, intent) => items.change(key, intent, async (current) => makeChange(current, settings, true)),

  patch: (key, patch, intent) =>
    // eslint-disable-next-line @typescript-eslint/require-await -- throws into the promise
    items.change(key, intent, async (current) => {
      const merged = parseBody(TriggerSettings, applyMergePatch(toSettings(current.spec), patch));
      return makeChange(current, merged, false);
    }),
});
