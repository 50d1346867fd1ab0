import { LIMITS } from "@sless/contracts";
import type { Request } from "express";
import { InvalidJson, TooLarge, UnsupportedMediaType } from "../errors.js";
import { parseJson } from "./json-guard.js";

const JSON_TYPES = ["application/json", "application/merge-patch+json"] as const;

/** Type of a body without its parameters, lower case; empty when there is none. */
export const mediaTypeOf = (req: Request): string => {
  const [type = ""] = (req.headers["content-type"] ?? "").split(";", 1);
  return type.trim().toLowerCase();
};

/** A compressed body could be a bomb, and no client of ours sends one. */
export const refuseEncodedBody = (req: Request): void => {
  const encoding = req.headers["content-encoding"]?.trim().toLowerCase();
  if (encoding !== undefined && encoding !== "identity") {
    throw new UnsupportedMediaType(`Content-Encoding ${encoding.slice(0, 40)} is not read; send the body as it is.`);
  }
};

const refuseOtherTypes = (req: Request): void => {
  const type = mediaTypeOf(req);
  if (!(JSON_TYPES as readonly string[]).includes(type)) {
    throw new UnsupportedMediaType(
      `Send the body as Content-Type: application/json, not ${type.slice(0, 80) || "without one"}.`,
    );
  }
};

const tooLarge = (): TooLarge => new TooLarge(`The body is larger than ${LIMITS.requestBodyBytes} bytes.`);

const readBounded = async (req: Request): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > LIMITS.requestBodyBytes) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof TooLarge) throw error;
    throw new InvalidJson("The body ended early.");
  }
  return Buffer.concat(chunks);
};

/**
 * Reads a JSON body: type and size are checked before, nesting and forbidden names after it is there.
 * @returns the value and its bytes, whose hash an Idempotency-Key is bound to.
 * @throws UnsupportedMediaType, TooLarge, InvalidJson, InvalidRequest
 */
export const readJson = async (req: Request): Promise<{ value: unknown; bytes: Buffer }> => {
  refuseEncodedBody(req);
  refuseOtherTypes(req);
  if (Number(req.headers["content-length"] ?? 0) > LIMITS.requestBodyBytes) throw tooLarge();
  const bytes = await readBounded(req);
  return { value: parseJson(bytes), bytes };
};
