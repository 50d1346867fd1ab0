import type { IncomingMessage } from "node:http";
import { parse as parseYaml } from "yaml";
import { ApiStatusError, badRequest } from "../../store/api-status-error.js";

/** As kube-apiserver's. */
const MAX_BODY_BYTES = 3 * 1024 * 1024;
const MAX_DEPTH = 256;

/** Reads a body up to the limit; 413 beyond it. */
export const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES)
      throw new ApiStatusError(413, "RequestEntityTooLarge", `Request entity too large: limit is ${MAX_BODY_BYTES}`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
};

/** Refuses what would overflow the stack of a recursive reader, or reach a prototype. */
const checkShape = (root: unknown): void => {
  let level: unknown[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw badRequest(`the body nests deeper than ${MAX_DEPTH} levels`);
    const next: unknown[] = [];
    for (const value of level) {
      if (value === null || typeof value !== "object") continue;
      if (Object.hasOwn(value, "__proto__")) throw badRequest('the field name "__proto__" is refused');
      // No spread: a body holds more items than a call takes arguments.
      for (const child of Object.values(value)) next.push(child);
    }
    level = next;
  }
};

const explain = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw badRequest(`the body is not valid JSON: ${explain(error)}`);
  }
};

/** Valid JSON is the common case of YAML, and much faster to read. */
const parseYamlOrJson = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Not JSON: YAML it must be.
  }
  try {
    return parseYaml(text, { schema: "core", version: "1.2" }) as unknown;
  } catch (error) {
    throw badRequest(`the body is not valid YAML: ${explain(error)}`);
  }
};

/** Parses a body by its content type; 415 for types that this server does not read, protobuf among them. */
export const parseBody = (text: string, contentType: string): unknown => {
  const isYaml = /[/+]yaml$/.test(contentType);
  if (!isYaml && !/[/+]json$/.test(contentType))
    throw new ApiStatusError(
      415,
      "UnsupportedMediaType",
      `the body of the request was in an unknown format - accepted media types include: application/json, application/yaml (got ${contentType})`,
    );
  const value = isYaml ? parseYamlOrJson(text) : parseJson(text);
  checkShape(value);
  return value;
};

/** The media type alone; JSON where the client named none. */
export const mediaTypeOf = (request: IncomingMessage): string =>
  (request.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() || "application/json";
