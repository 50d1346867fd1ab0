import { WaitQuery } from "@sless/contracts";
import { NotFound } from "../errors.js";
import { sendItem } from "../http/conditional.js";
import type { Exchange } from "../http/exchange.js";
import { parseQuery } from "../http/field-errors.js";
import type { Shares } from "../http/shares.js";
import type { ChangeSignals } from "../platform/change-signals.js";
import { itemKey, readable, type Access } from "../tenants/access.js";
import type { ItemKey, Items } from "./items.js";
import type { Item } from "./judge-ready.js";
import { waitForItem, type Waited } from "./wait-for-item.js";

/** How items of one kind are read: GET of an item, with or without a wait. */
export interface ItemReading<T extends Item> {
  readonly items: Items<T>;
  readonly signals: ChangeSignals;
  readonly waits: Shares;
  readonly toBody: (item: T) => object;
}

/** How a wait ended. */
export const WAIT_HEADER = "x-sless-wait";

const wait = async <T extends Item>(
  exchange: Exchange,
  reading: ItemReading<T>,
  key: ItemKey,
  query: WaitQuery & { wait: "ready" | "gone" },
): Promise<Waited<T>> => {
  const release = reading.waits.acquire(exchange.principal.namespace);
  try {
    return await waitForItem(reading.items, reading.signals, {
      key,
      until: query.wait,
      generation: query.generation,
      timeoutMs: query.timeout * 1000,
      signal: exchange.waitSignal,
    });
  } finally {
    release();
  }
};

/** Answers GET of an item: 200, 304, 404, or after `wait=gone` 204. */
export const answerItem = async <T extends Item>(
  exchange: Exchange,
  access: Access,
  reading: ItemReading<T>,
): Promise<void> => {
  const { req, res } = exchange;
  const query = parseQuery(WaitQuery, req.originalUrl);
  const key = itemKey(exchange, await readable(access, exchange));
  if (query.wait === undefined) {
    const item = await reading.items.get(key);
    return sendItem(req, res, item.metadata.resourceVersion, reading.toBody(item));
  }
  const { item, outcome } = await wait(exchange, reading, key, { ...query, wait: query.wait });
  if (item === undefined && query.wait === "ready")
    throw new NotFound(`There is no ${key.name}, so it can't become ready.`);
  res.setHeader(WAIT_HEADER, outcome);
  if (item === undefined) res.status(204).end();
  else sendItem(req, res, item.metadata.resourceVersion, reading.toBody(item));
};
