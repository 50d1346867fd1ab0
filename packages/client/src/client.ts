import {
  page,
  RuntimeBody,
  TriggerBody,
  WhoAmI,
  type CreateTrigger,
  type PatchTrigger,
  type TriggerSettings,
} from "@sless/contracts";
import type { z } from "zod";
import { check, createCollection, withSignal, type Collection } from "./collection.js";
import { createFunctions, type Functions } from "./functions.js";
import { createTransport, type ClientOptions } from "./transport.js";

/** Bodies as their writers see them: what has a default may be left out. */
export type CreateTriggerInput = z.input<typeof CreateTrigger>;
export type TriggerSettingsInput = z.input<typeof TriggerSettings>;

/** The REST API of one endpoint, as one user. Every answer is checked against its schema. */
export interface SlessClient {
  whoami(signal?: AbortSignal): Promise<WhoAmI>;
  runtimes(signal?: AbortSignal): Promise<readonly RuntimeBody[]>;
  readonly functions: Functions;
  readonly triggers: Collection<TriggerBody, CreateTriggerInput, TriggerSettingsInput, PatchTrigger>;
  /** Removes the tenant with everything in it. */
  deleteNamespace(namespace: string, signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/**
 * A client of the REST API, below the caller's own namespace unless another is named.
 * @throws EndpointError for an endpoint that would carry the token in clear
 */
export const createClient = (options: ClientOptions): SlessClient => {
  const transport = createTransport(options);
  const namespace = `/v1/namespaces/${encodeURIComponent(options.namespace ?? "me")}`;
  const Runtimes = page(RuntimeBody);
  return {
    whoami: async (signal) => check(WhoAmI, (await transport.json("/v1/whoami", withSignal(signal))).value),
    runtimes: async (signal) => check(Runtimes, (await transport.json("/v1/runtimes", withSignal(signal))).value).items,
    functions: createFunctions(transport, `${namespace}/functions`),
    triggers: createCollection(transport, `${namespace}/triggers`, TriggerBody),
    async deleteNamespace(name, signal) {
      const path = `/v1/namespaces/${encodeURIComponent(name)}`;
      await transport.json(path, { method: "DELETE", query: { confirm: name }, ...withSignal(signal) });
    },
    close: () => transport.close(),
  };
};
