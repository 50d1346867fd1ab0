import type { z } from "zod";
import { Name } from "../../resources/fields.js";
import { PROBLEM_KINDS, type ProblemKind } from "../problem.js";
import { makeComponentSchemas, toJsonSchema, type ComponentName } from "./components.js";
import { EXAMPLES } from "./examples.js";
import { OPERATIONS, type Operation, type Success } from "./operations.js";

type Json = Record<string, unknown>;

const HEADER_TEXTS = {
  "If-Match": "Write only if the item is still the one with this ETag; otherwise 412 with the current one.",
  "If-None-Match": "Answer 304 if the item is still the one with this ETag.",
  "Idempotency-Key":
    "Makes a repetition safe: the same key with the same body does nothing new, with another body it is refused (422). Kept with the item, for its last eight writes.",
} as const;

const ref = (name: ComponentName): Json => ({ $ref: `#/components/schemas/${name}` });

const makePathParameters = (path: string): Json[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    description: name === "ns" ? "The caller's namespace, or `me`." : "Name of the item.",
    schema: name === "ns" ? { type: "string", examples: ["me"] } : toJsonSchema(Name, "input"),
  }));

const makeQueryParameters = (query: z.ZodObject | undefined): Json[] => {
  if (!query) return [];
  const { properties } = toJsonSchema(query, "output") as { properties: Record<string, Json> };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    required: false,
    ...(description !== undefined && { description }),
    schema,
  }));
};

const makeHeaderParameters = (headers: Operation["headers"]): Json[] =>
  (headers ?? []).map((name) => ({
    name,
    in: "header",
    required: false,
    description: HEADER_TEXTS[name],
    schema: { type: "string", maxLength: 255 },
  }));

const makeRequestBody = ({ body, mediaType, bodyRequired }: Operation): Json => {
  if (body === undefined) {
    return mediaType === undefined ? {} : { requestBody: { required: true, content: { [mediaType]: {} } } };
  }
  const content = { schema: ref(body), example: EXAMPLES[body] };
  const types = mediaType === undefined ? ["application/json"] : [mediaType, "application/json"];
  return {
    requestBody: { required: bodyRequired ?? true, content: Object.fromEntries(types.map((type) => [type, content])) },
  };
};

const makeContent = ({ body, list, mediaType }: Success & { body: ComponentName }): Json => {
  const example = EXAMPLES[body];
  const page = {
    type: "object",
    required: ["items"],
    properties: {
      items: { type: "array", items: ref(body) },
      continue: { type: "string", description: "Opaque; hand it back for the next page. Absent on the last." },
    },
  };
  return {
    [mediaType ?? "application/json"]: list
      ? { schema: page, example: { items: [example] } }
      : { schema: ref(body), example },
  };
};

const makeSuccess = (success: Success): [string, Json] => {
  const { status, description, body } = success;
  return [String(status), { description, ...(body !== undefined && { content: makeContent({ ...success, body }) }) }];
};

/** Kinds that any operation may answer. */
const COMMON: readonly ProblemKind[] = ["invalid-request", "unauthenticated", "forbidden", "internal", "unavailable"];
const BODY_KINDS: readonly ProblemKind[] = ["invalid-json"];

const makeProblems = ({ problems, body }: Operation): [string, Json][] => {
  const kinds = [...COMMON, ...(body === undefined ? [] : BODY_KINDS), ...problems];
  const byStatus = new Map<number, string[]>();
  for (const kind of kinds) {
    const { status, title } = PROBLEM_KINDS[kind];
    byStatus.set(status, [...(byStatus.get(status) ?? []), `${title} (\`${kind}\`)`]);
  }
  return [...byStatus].map(([status, titles]) => [
    String(status),
    { description: `${titles.join("; ")}.`, content: { "application/problem+json": { schema: ref("Problem") } } },
  ]);
};

const makeOperation = (operation: Operation): Json => {
  const { id, tag, summary, description, path, query, headers } = operation;
  const parameters = [...makePathParameters(path), ...makeQueryParameters(query), ...makeHeaderParameters(headers)];
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    ...(parameters.length > 0 && { parameters }),
    ...makeRequestBody(operation),
    responses: Object.fromEntries([...operation.success.map(makeSuccess), ...makeProblems(operation)].sort()),
  };
};

const INVOKE_METHODS = ["get", "post", "put", "patch", "delete", "options", "head"] as const;

/** `invoke` answers whatever the function does, so it has no schema. */
const makeInvokePath = (): Json =>
  Object.fromEntries(
    INVOKE_METHODS.map((method) => [
      method,
      {
        operationId: `invoke${method[0]?.toUpperCase()}${method.slice(1)}`,
        tags: ["Functions"],
        summary: `Call a function with ${method.toUpperCase()}`,
        description:
          "Any path may follow, and any query. The function sees method, path, query, headers and body; not the token. The answer is the function's, sandboxed; `x-sless-fault-source` tells whose fault an error is.",
        parameters: makePathParameters("/{ns}/{name}"),
        responses: {
          default: { description: "The function's answer, or a problem." },
        },
      },
    ]),
  );

const makePaths = (): Json => {
  const paths: Record<string, Json> = {};
  for (const operation of OPERATIONS) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: makeOperation(operation) };
  }
  paths["/v1/namespaces/{ns}/functions/{name}/invoke"] = makeInvokePath();
  return paths;
};

/** The OpenAPI 3.1 document of the REST API, made of the same schemas that read and write its bodies. */
export const makeOpenApi = (): Json => ({
  openapi: "3.1.0",
  info: {
    title: "sless",
    version: "v1",
    license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    description:
      "Functions from a zip to an HTTPS endpoint. Times are RFC 3339 in UTC. Errors are RFC 9457 problems; their types are explained at /errors. Every answer carries `x-request-id`.",
  },
  servers: [{ url: "/" }],
  security: [{ bearer: [] }],
  tags: ["Account", "Namespaces", "Functions", "Versions", "Logs", "Triggers"].map((name) => ({ name })),
  paths: makePaths(),
  components: {
    securitySchemes: { bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" } },
    schemas: makeComponentSchemas(),
  },
});
