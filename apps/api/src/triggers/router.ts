import { CreateTrigger, PatchTrigger, TriggerSettings, type Trigger } from "@sless/contracts";
import type { Route } from "../http/exchange.js";
import type { ItemReading } from "../resources/answer-item.js";
import { makeItemRoutes } from "../resources/item-routes.js";
import type { Access } from "../tenants/access.js";
import type { Triggers } from "./service.js";

export interface TriggerRoutesOptions {
  readonly access: Access;
  readonly triggers: Triggers;
  readonly reading: ItemReading<Trigger>;
}

export const makeTriggerRoutes = ({ access, triggers, reading }: TriggerRoutesOptions): Route[] =>
  makeItemRoutes({
    access,
    collection: "/v1/namespaces/:ns/triggers",
    schemas: { create: CreateTrigger, put: TriggerSettings, patch: PatchTrigger },
    service: triggers,
    reading,
  });
