import type { RequestHandler } from "express";

/** Answers are data: no browser shall run, frame, sniff or keep them. Pages of our own loosen the policy for their style. */
export const setSecurityHeaders: RequestHandler = (_req, res, next) => {
  res.setHeader("content-security-policy", "default-src 'none'; frame-ancestors 'none'");
  res.setHeader("x-content-type-options", "nosniff");
  res.setHeader("referrer-policy", "no-referrer");
  res.setHeader("cache-control", "no-store");
  next();
};
