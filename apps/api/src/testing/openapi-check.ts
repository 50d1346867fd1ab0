import { makeOpenApi } from "@sless/contracts";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

interface Response {
  readonly content?: Readonly<Record<string, unknown>>;
}
type Paths = Readonly<Record<string, Readonly<Record<string, { responses: Readonly<Record<string, Response>> }>>>>;

/** An answer that a test got, to be held against the document. */
export interface SeenAnswer {
  readonly method: string;
  /** Path without query. */
  readonly path: string;
  readonly status: number;
  readonly mediaType: string;
  readonly body: unknown;
}

const document = makeOpenApi();
const paths = document["paths"] as Paths;
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema(document, "openapi");
const compiled = new Map<string, ValidateFunction>();

const toPattern = (template: string): RegExp => new RegExp(`^${template.replace(/\{\w+\}/g, "[^/]+")}$`);
const PATTERNS = Object.keys(paths).map((template) => ({ template, pattern: toPattern(template) }));

const escapePointer = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");

const validatorAt = (pointer: string): ValidateFunction => {
  const known = compiled.get(pointer);
  if (known) return known;
  const validate = ajv.compile({ $ref: `openapi#${pointer}` });
  compiled.set(pointer, validate);
  return validate;
};

const checkBody = (pointer: string, mediaType: string, body: unknown): string | undefined => {
  const validate = validatorAt(pointer);
  const bodies = mediaType === "application/x-ndjson" ? ((body ?? []) as unknown[]) : [body];
  const wrong = bodies.find((each) => !validate(each));
  return wrong === undefined ? undefined : ajv.errorsText(validate.errors);
};

const checkResponse = (
  response: Response,
  { mediaType, body }: SeenAnswer,
  steps: readonly string[],
): string | undefined => {
  if (!response.content) return body === undefined ? undefined : "has a body that the document does not know";
  if (!(mediaType in response.content)) return `is ${mediaType}, which the document does not know`;
  const pointer = [...steps, "content", mediaType, "schema"].map(escapePointer).map(encodeURIComponent).join("/");
  return checkBody(`/${pointer}`, mediaType, body);
};

/**
 * What of an answer the OpenAPI document does not say (R2); undefined when it is true to it, and for paths that it does
 * not describe.
 */
export const findMismatch = (seen: SeenAnswer): string | undefined => {
  const method = seen.method.toLowerCase();
  const template = PATTERNS.find(({ pattern }) => pattern.test(seen.path))?.template ?? "";
  const operation = paths[template]?.[method];
  if (!operation || template.endsWith("/invoke")) return undefined;
  const status = String(seen.status);
  const response = operation.responses[status];
  const steps = ["paths", template, method, "responses", status];
  const problem = response ? checkResponse(response, seen, steps) : "is a status that the document does not know";
  return problem === undefined ? undefined : `${method} ${template} ${status}: ${problem}`;
};
