import type { RuntimeBody, RuntimeEntry } from "@sless/contracts";
import { invalidField } from "./errors.js";
import type { Route } from "./http/exchange.js";

const toRuntimeBody = (entry: RuntimeEntry): RuntimeBody => ({
  name: entry.name,
  family: entry.family,
  deprecated: entry.deprecated,
  available: entry.unavailable === undefined,
  ...(entry.unavailable !== undefined && { message: entry.unavailable }),
});

/** @throws InvalidRequest for a runtime that the platform does not have, naming those it has. */
export const requireRuntime = (runtimes: readonly RuntimeEntry[], name: string): void => {
  if (runtimes.some((entry) => entry.name === name)) return;
  const known = runtimes.map((entry) => entry.name).join(", ");
  throw invalidField("/runtime", `is not a runtime of this platform. There are: ${known}`);
};

/** What functions may be written for. */
export const makeRuntimeRoutes = (runtimes: readonly RuntimeEntry[]): Route[] => [
  {
    method: "get",
    path: "/v1/runtimes",
    // eslint-disable-next-line @typescript-eslint/require-await -- handlers are asynchronous, this one knows all
    handle: async ({ res }) => {
      res.json({ items: runtimes.map(toRuntimeBody) });
    },
  },
];
