import type { Request, RequestHandler, Response } from "express";
import type { Logger } from "../platform/logger.js";
import { requestIdOf } from "./request-id.js";

/** One finished request, with labels from closed sets. */
export interface Observation {
  readonly route: string;
  readonly method: string;
  readonly status: number;
  readonly seconds: number;
}
export type Observe = (observation: Observation) => void;

const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
/** Label of every path that no route has: real paths would let anybody make series without end (D37). */
const UNMATCHED = "unmatched";
const routes = new WeakMap<Response, string>();

/** Remembers the template of the route that serves this request. */
export const markRoute = (res: Response, template: string): void => void routes.set(res, template);

const observationOf = (req: Request, res: Response, startedAt: number): Observation => ({
  route: routes.get(res) ?? UNMATCHED,
  method: METHODS.has(req.method) ? req.method : "other",
  status: res.statusCode,
  seconds: (performance.now() - startedAt) / 1000,
});

/** Counts and logs each request at its end. The path is logged without its query; headers never are (security 25). */
export const observeRequests =
  (observe: Observe, logger: Logger): RequestHandler =>
  (req, res, next) => {
    const startedAt = performance.now();
    res.once("close", () => {
      const observation = observationOf(req, res, startedAt);
      observe(observation);
      const path = req.originalUrl.split("?", 1)[0]?.slice(0, 512);
      logger.info({ ...observation, path, requestId: requestIdOf(res), complete: res.writableFinished }, "request");
    });
    next();
  };
