import {
  CreateFunction,
  FunctionSettings,
  PatchFunction,
  RollbackRequest,
  type Function,
  type RollbackResult,
} from "@sless/contracts";
import { etagOf } from "../http/conditional.js";
import type { Exchange, Route } from "../http/exchange.js";
import { parseBody } from "../http/field-errors.js";
import { readJson } from "../http/read-json.js";
import type { ItemReading } from "../resources/answer-item.js";
import { makeItemRoutes, readIntent, refuseQuery } from "../resources/item-routes.js";
import { itemKey, readable, type Access } from "../tenants/access.js";
import { toFunctionBody, toVersionBody } from "./dto.js";
import type { Functions } from "./service.js";
import type { Versions } from "./versions.js";

export interface FunctionRoutesOptions {
  readonly access: Access;
  readonly functions: Functions;
  readonly versions: Versions;
  readonly reading: ItemReading<Function>;
}

const COLLECTION = "/v1/namespaces/:ns/functions";
export const FUNCTION_PATH = `${COLLECTION}/:name`;

/** An empty body means no wishes. */
const readOptionalJson = async ({ req }: Exchange): Promise<{ value: unknown; bytes: Buffer }> => {
  const isEmpty = req.headers["transfer-encoding"] === undefined && (req.headers["content-length"] ?? "0") === "0";
  return isEmpty ? { value: {}, bytes: Buffer.alloc(0) } : readJson(req);
};

/** Versions of a function and the way back to one. */
const makeVersionRoutes = ({ access, reading, versions }: FunctionRoutesOptions): Route[] => [
  {
    method: "get",
    path: `${FUNCTION_PATH}/versions`,
    handle: async (exchange) => {
      refuseQuery(exchange);
      const fn = await reading.items.get(itemKey(exchange, await readable(access, exchange)));
      const found = await versions.list(fn);
      exchange.res.json({ items: found.map((version) => toVersionBody(version, fn)) });
    },
  },
  {
    method: "post",
    path: `${FUNCTION_PATH}/rollback`,
    handle: async (exchange) => {
      refuseQuery(exchange);
      const { value, bytes } = await readOptionalJson(exchange);
      const { version, reason } = parseBody(RollbackRequest, value);
      const key = itemKey(exchange, await readable(access, exchange));
      const request = { version, reason, by: exchange.principal.subject };
      const { from, to, fn } = await versions.rollback(key, request, readIntent(exchange, key.namespace, bytes));
      const body: RollbackResult = { ...(from !== undefined && { from }), to, function: toFunctionBody(fn) };
      exchange.res.setHeader("etag", etagOf(fn.metadata.resourceVersion));
      exchange.res.json(body);
    },
  },
];

/** Routes of functions' settings and versions. */
export const makeFunctionRoutes = (options: FunctionRoutesOptions): Route[] => [
  ...makeItemRoutes({
    access: options.access,
    collection: COLLECTION,
    schemas: { create: CreateFunction, put: FunctionSettings, patch: PatchFunction },
    service: options.functions,
    reading: options.reading,
  }),
  ...makeVersionRoutes(options),
];
