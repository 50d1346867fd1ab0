import type { Request, Response } from "express";
import { invalidField } from "../errors.js";

/** Resource versions that an If-Match allows, or "any" for `*`. */
export type IfMatch = readonly string[] | "any";

/** Strong entity tag of an object: its resource version. */
export const etagOf = (resourceVersion: string | undefined): string => `"${resourceVersion ?? ""}"`;

const ENTITY_TAG = /^(W\/)?"([\x21\x23-\x7e]{0,64})"$/;

interface Tag {
  readonly weak: boolean;
  readonly value: string;
}

const parseTags = (header: string, name: string): Tag[] =>
  header.split(",", 50).map((part) => {
    const match = ENTITY_TAG.exec(part.trim());
    if (!match) throw invalidField(name, 'must be "*" or entity tags as they came in ETag, with their quotes');
    return { weak: match[1] !== undefined, value: match[2] ?? "" };
  });

/** Reads If-Match. It compares strongly (RFC 9110): a weak tag never matches. */
export const readIfMatch = (req: Request): IfMatch | undefined => {
  const header = req.headers["if-match"];
  if (header === undefined) return undefined;
  if (header.trim() === "*") return "any";
  return parseTags(header, "If-Match").flatMap(({ weak, value }) => (weak ? [] : [value]));
};

const isUnchanged = (req: Request, resourceVersion: string | undefined): boolean => {
  const header = req.headers["if-none-match"];
  if (header === undefined) return false;
  return header.trim() === "*" || parseTags(header, "If-None-Match").some(({ value }) => value === resourceVersion);
};

/** Answers one object with its ETag, or 304 when the caller has this very one. */
export const sendItem = (req: Request, res: Response, resourceVersion: string | undefined, body: object): void => {
  res.setHeader("etag", etagOf(resourceVersion));
  if (isUnchanged(req, resourceVersion)) res.status(304).end();
  else res.json(body);
};
