import { once } from "node:events";
import { LogsQuery, type Function, type LogLine } from "@sless/contracts";
import type { Response } from "express";
import { FUNCTION_PATH } from "../functions/router.js";
import type { Route } from "../http/exchange.js";
import { parseQuery } from "../http/field-errors.js";
import type { Shares } from "../http/shares.js";
import type { Items } from "../resources/items.js";
import { itemKey, readable, type Access } from "../tenants/access.js";
import type { Logs } from "./service.js";
import { parseSince } from "./since.js";

export interface LogRoutesOptions {
  readonly access: Access;
  readonly items: Pick<Items<Function>, "get">;
  readonly logs: Logs;
  readonly streams: Shares;
}

const toText = (lines: readonly LogLine[]): string =>
  lines.length === 0 ? "\n" : lines.map((line) => `${JSON.stringify(line)}\n`).join("");

/** Writes batches as they come, at the client's pace; an empty one becomes an empty line, which readers skip. */
const send = async (res: Response, batches: AsyncIterable<LogLine[]>, signal: AbortSignal): Promise<void> => {
  for await (const lines of batches) {
    if (!res.headersSent) res.status(200).type("application/x-ndjson");
    if (signal.aborted) break;
    if (!res.write(toText(lines))) await once(res, "drain", { signal });
  }
  res.end();
};

/** `GET …/logs` as newline-delimited JSON. */
export const makeLogRoutes = ({ access, items, logs, streams }: LogRoutesOptions): Route[] => [
  {
    method: "get",
    path: `${FUNCTION_PATH}/logs`,
    handle: async (exchange) => {
      const { req, res, waitSignal: signal } = exchange;
      const { follow, tail, since, version } = parseQuery(LogsQuery, req.originalUrl);
      const sinceTime = since === undefined ? undefined : parseSince(since, Date.now());
      const fn = await items.get(itemKey(exchange, await readable(access, exchange)));
      const release = streams.acquire(exchange.principal.namespace);
      try {
        await send(res, logs.read({ fn, tail, since: sinceTime, version, follow, signal }), signal);
      } catch (error) {
        if (!res.headersSent || !signal.aborted) throw error;
        res.end();
      } finally {
        release();
      }
    },
  },
];
