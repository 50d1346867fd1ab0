import { setMaxListeners } from "node:events";
import { Router, type Request, type RequestHandler, type Response } from "express";
import type { Authenticator } from "../auth/authenticator.js";
import { MethodNotAllowed } from "../errors.js";
import type { Route } from "./exchange.js";
import { createLifetime } from "./lifetime.js";
import { markRoute } from "./observe.js";
import { requestIdOf } from "./request-id.js";

export interface MountOptions {
  readonly authenticator: Authenticator;
  /** Aborts when the replica drains. */
  readonly drain: AbortSignal;
}

const serve =
  (route: Route, { authenticator, drain }: MountOptions): RequestHandler =>
  async (req: Request, res: Response) => {
    markRoute(res, route.path);
    const principal = await authenticator.authenticate(req.headers.authorization);
    await route.handle({
      req,
      res,
      requestId: requestIdOf(res),
      principal,
      signal: createLifetime(res, principal),
      waitSignal: createLifetime(res, principal, drain),
    });
  };

const allowedMethods = (routes: readonly Route[], path: string): string[] => {
  const methods = routes.filter((route) => route.path === path).map(({ method }) => method.toUpperCase());
  return methods.includes("GET") ? ["GET", "HEAD", ...methods.filter((method) => method !== "GET")] : methods;
};

/** Mounts routes, each behind the token check; other methods of a known path answer 405. */
export const mountRoutes = (routes: readonly Route[], options: MountOptions): Router => {
  // One listener for each request in flight is no leak.
  setMaxListeners(0, options.drain);
  const router = Router({ caseSensitive: true, strict: true });
  for (const route of routes) router[route.method](route.path, serve(route, options));
  for (const path of new Set(routes.map((route) => route.path))) {
    router.all(path, (_req, res) => {
      markRoute(res, path);
      throw new MethodNotAllowed(allowedMethods(routes, path));
    });
  }
  return router;
};
