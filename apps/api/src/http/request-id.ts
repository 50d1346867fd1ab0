import { randomUUID } from "node:crypto";
import type { RequestHandler, Response } from "express";

export const REQUEST_ID_HEADER = "x-request-id";

/** Gives each request a fresh id: a client's own would let it pose as another's in the logs (security 19). */
export const assignRequestId: RequestHandler = (_req, res, next) => {
  res.setHeader(REQUEST_ID_HEADER, randomUUID());
  next();
};

/** The id of the request that this answers. */
export const requestIdOf = (res: Response): string => String(res.getHeader(REQUEST_ID_HEADER));
