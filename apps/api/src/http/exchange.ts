import type { Request, Response } from "express";
import type { Principal } from "../auth/principal.js";

/** One request with what the middleware has found out about it. */
export interface Exchange {
  readonly req: Request;
  readonly res: Response;
  readonly requestId: string;
  readonly principal: Principal;
  /** Aborts when the client has gone or the token has ended. */
  readonly signal: AbortSignal;
  /** The same, and when the replica drains: long waits and streams end with it, and clients come back to another. */
  readonly waitSignal: AbortSignal;
}

export type Handler = (exchange: Exchange) => Promise<void>;

/** A route: an Express path, whose template is also the label of its metrics. */
export interface Route {
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  readonly path: string;
  readonly handle: Handler;
}

/** A parameter of the path. Express gives only routes whose parameters are there. */
export const pathParam = (req: Request, name: string): string => {
  const value = req.params[name];
  return typeof value === "string" ? value : "";
};
