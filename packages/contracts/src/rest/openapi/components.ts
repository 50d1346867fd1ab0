import { z } from "zod";
import { RuntimeBody, WhoAmI } from "../common.js";
import {
  CreateFunction,
  FunctionBody,
  FunctionSettings,
  LogLine,
  PatchFunction,
  RollbackRequest,
  RollbackResult,
  UploadResult,
  VersionBody,
} from "../functions.js";
import { Problem } from "../problem.js";
import { CreateTrigger, PatchTrigger, TriggerBody, TriggerSettings } from "../triggers.js";
import type { EXAMPLES } from "./examples.js";

/** A body by its name in the document, and whether clients or the API write it. */
interface Component {
  readonly schema: z.ZodType;
  readonly io: "input" | "output";
}

const sent = (schema: z.ZodType): Component => ({ schema, io: "input" });
const answered = (schema: z.ZodType): Component => ({ schema, io: "output" });

export const COMPONENTS = {
  CreateFunction: sent(CreateFunction),
  FunctionSettings: sent(FunctionSettings),
  PatchFunction: sent(PatchFunction),
  Function: answered(FunctionBody),
  Version: answered(VersionBody),
  UploadResult: answered(UploadResult),
  RollbackRequest: sent(RollbackRequest),
  RollbackResult: answered(RollbackResult),
  LogLine: answered(LogLine),
  CreateTrigger: sent(CreateTrigger),
  TriggerSettings: sent(TriggerSettings),
  PatchTrigger: sent(PatchTrigger),
  Trigger: answered(TriggerBody),
  WhoAmI: answered(WhoAmI),
  Runtime: answered(RuntimeBody),
  Problem: answered(Problem),
} as const satisfies Readonly<Record<keyof typeof EXAMPLES, Component>>;
export type ComponentName = keyof typeof COMPONENTS;

type JsonSchema = Record<string, unknown>;

const isObject = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isSafeIntegerBound = (key: string, value: unknown): boolean =>
  (key === "minimum" || key === "maximum") && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER;

const tidyEntry = (key: string, value: unknown): [string, unknown][] => {
  if (key === "$schema" || key.startsWith("x-kubernetes-") || isSafeIntegerBound(key, value)) return [];
  if (key === "properties" && isObject(value)) {
    return [[key, Object.fromEntries(Object.entries(value).map(([name, child]) => [name, tidy(child)]))]];
  }
  if (key === "example") return [["examples", [value]]];
  if (key === "examples" || key === "default" || key === "enum") return [[key, value]];
  return [[key, tidy(value)]];
};

/** Takes out what speaks to Kubernetes or to zod alone. */
const tidy = (node: unknown): unknown => {
  if (Array.isArray(node)) return node.map(tidy);
  if (!isObject(node)) return node;
  return Object.fromEntries(Object.entries(node).flatMap(([key, value]) => tidyEntry(key, value)));
};

/** JSON Schema (2020-12, which OpenAPI 3.1 uses) of a zod schema, as its writer sees it. */
export const toJsonSchema = (schema: z.ZodType, io: "input" | "output"): JsonSchema =>
  tidy(z.toJSONSchema(schema, { target: "draft-2020-12", io, reused: "inline", unrepresentable: "any" })) as JsonSchema;

/** `components.schemas` of the document. */
export const makeComponentSchemas = (): Record<string, JsonSchema> =>
  Object.fromEntries(Object.entries(COMPONENTS).map(([name, { schema, io }]) => [name, toJsonSchema(schema, io)]));
