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

/**
 * What of an answer the OpenAPI document does not say (R2); undefined when it is true to it, and for paths that it does
 * not describe.
 */
export const findMismatch = ({ method, path, status, mediaType, body }: SeenAnswer): string | undefined => {
  const template = PATTERNS.find(({ pattern }) => pattern.test(path))?.template;
  const operation = template === undefined ? undefined : paths[template]?.[method.toLowerCase()];
  if (template === undefined || !operation || template.endsWith("/invoke")) return undefined;
  const response = operation.responses[String(status)];
  if (!response) return `${method} ${template} answered ${status}, which the document does not know`;
  if (!response.content) return body === undefined ? undefined : `${method} ${template} ${status} has a body`;
  if (!(mediaType in response.content)) return `${method} ${template} ${status} answered ${mediaType}`;
  const steps = ["paths", template, method.toLowerCase(), "responses", String(status), "content", mediaType, "schema"];
  const validate = validatorAt(`/${steps.map(escapePointer).map(encodeURIComponent).join("/")}`);
  const bodies = mediaType === "application/x-ndjson" ? (body as unknown[]) : [body];
  const wrong = bodies.find((each) => !validate(each));
  return wrong === undefined ? undefined : `${method} ${template} ${status}: ${ajv.errorsText(validate.errors)}`;
};
