import { badRequest } from "../../store/api-status-error.js";
import { findUnknownFields } from "../schema/prune.js";
import type { Exchange } from "./exchange.js";

const MODES: readonly string[] = ["Ignore", "Warn", "Strict"];
const MAX_SHOWN = 20;

/**
 * What becomes of fields that the kind does not have: `fieldValidation` of the query says whether they are
 * refused, named in a `Warning:` header (when nothing is said), or dropped silently.
 * @throws 400 naming the fields
 */
export const checkFields = ({ query, type, rules, warnings }: Exchange, object: unknown): void => {
  if (rules.warning) warnings.push(rules.warning);
  const mode = query.get("fieldValidation") || "Warn";
  if (!MODES.includes(mode))
    throw badRequest(
      `fieldValidation: Unsupported value: ${JSON.stringify(mode)}: supported values: "", "Ignore", "Strict", "Warn"`,
    );
  if (mode === "Ignore") return;
  const problems = findUnknownFields(object, rules.schema)
    .slice(0, MAX_SHOWN)
    .map((path) => `unknown field ${JSON.stringify(path)}`);
  if (problems.length === 0) return;
  if (mode === "Warn") warnings.push(...problems);
  else
    throw badRequest(
      `${type.kind} in version ${JSON.stringify(type.version)} cannot be handled as a ${type.kind}: strict decoding error: ${problems.join(", ")}`,
    );
};
