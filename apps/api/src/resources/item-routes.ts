import { ListQuery } from "@sless/contracts";
import { z } from "zod";
import { etagOf, readIfMatch } from "../http/conditional.js";
import type { Exchange, Route } from "../http/exchange.js";
import { parseBody, parseQuery } from "../http/field-errors.js";
import { readIdempotency } from "../http/idempotency.js";
import { readJson } from "../http/read-json.js";
import { itemKey, readable, writable, type Access } from "../tenants/access.js";
import { answerItem, type ItemReading } from "./answer-item.js";
import type { ItemKey, WriteIntent } from "./items.js";
import type { Item } from "./judge-ready.js";

/** What a kind needs so that its items can be created, listed, read, replaced, patched and deleted by REST. */
export interface ItemRoutesOptions<
  T extends Item,
  Create extends z.ZodType,
  Put extends z.ZodType,
  Patch extends z.ZodType,
> {
  readonly access: Access;
  readonly collection: string;
  readonly schemas: { readonly create: Create; readonly put: Put; readonly patch: Patch };
  readonly service: {
    readonly create: (namespace: string, input: z.output<Create>, intent: WriteIntent) => Promise<T>;
    readonly replace: (key: ItemKey, input: z.output<Put>, intent: WriteIntent) => Promise<T>;
    readonly patch: (key: ItemKey, input: z.output<Patch>, intent: WriteIntent) => Promise<T>;
  };
  readonly reading: ItemReading<T>;
}

const NoQuery = z.object({});

/** Refuses parameters where there are none to give. */
export const refuseQuery = ({ req }: Exchange): void => void parseQuery(NoQuery, req.originalUrl);

/** Conditions of a write to an item, from its headers. */
export const readIntent = (exchange: Exchange, namespace: string, body: Uint8Array): WriteIntent => ({
  ifMatch: readIfMatch(exchange.req),
  idempotency: readIdempotency(exchange, namespace, body),
});

/** The six routes that every kind of item has. */
export const makeItemRoutes = <
  T extends Item,
  Create extends z.ZodType,
  Put extends z.ZodType,
  Patch extends z.ZodType,
>(
  options: ItemRoutesOptions<T, Create, Put, Patch>,
): Route[] => {
  const { access, collection, schemas, service, reading } = options;
  const { items, toBody } = reading;
  const path = `${collection}/:name`;

  const answer = ({ res }: Exchange, item: T): void => {
    res.setHeader("etag", etagOf(item.metadata.resourceVersion));
    res.json(toBody(item));
  };

  /** PUT and PATCH differ in schema and use case alone. */
  const handleChange =
    <S extends z.ZodType>(schema: S, change: (key: ItemKey, input: z.output<S>, intent: WriteIntent) => Promise<T>) =>
    async (exchange: Exchange): Promise<void> => {
      refuseQuery(exchange);
      const { value, bytes } = await readJson(exchange.req);
      const input = parseBody(schema, value);
      const key = itemKey(exchange, await writable(access, exchange));
      answer(exchange, await change(key, input, readIntent(exchange, key.namespace, bytes)));
    };

  return [
    {
      method: "post",
      path: collection,
      handle: async (exchange) => {
        refuseQuery(exchange);
        const { value, bytes } = await readJson(exchange.req);
        const input = parseBody(schemas.create, value);
        const namespace = await writable(access, exchange);
        const created = await service.create(namespace, input, readIntent(exchange, namespace, bytes));
        const location = collection.replace(":ns", namespace);
        exchange.res.status(201).setHeader("location", `${location}/${created.metadata.name}`);
        answer(exchange, created);
      },
    },
    {
      method: "get",
      path: collection,
      handle: async (exchange) => {
        const { limit, continue: cursor } = parseQuery(ListQuery, exchange.req.originalUrl);
        const page = await items.list(await readable(access, exchange), limit, cursor);
        exchange.res.json({ ...page, items: page.items.map(toBody) });
      },
    },
    { method: "get", path, handle: (exchange) => answerItem(exchange, access, reading) },
    { method: "put", path, handle: handleChange(schemas.put, service.replace) },
    { method: "patch", path, handle: handleChange(schemas.patch, service.patch) },
    {
      method: "delete",
      path,
      handle: async (exchange) => {
        refuseQuery(exchange);
        const key = itemKey(exchange, await readable(access, exchange));
        await items.delete(key, { ifMatch: readIfMatch(exchange.req) });
        exchange.res.status(204).end();
      },
    },
  ];
};
