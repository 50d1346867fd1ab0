import { jsonEqual } from "../../store/json-equal.js";
import { ApiStatusError, badRequest } from "../../store/api-status-error.js";

interface Operation {
  op: string;
  path: string;
  from?: string;
  value?: unknown;
}

const MAX_OPERATIONS = 10_000;
const FORBIDDEN_KEYS = new Set(["__proto__", "constructor", "prototype"]);

/** What kube-apiserver answers when a patch does not fit the object. */
const refuse = (message: string): ApiStatusError =>
  new ApiStatusError(422, "Invalid", `the server rejected our request due to an error in our request: ${message}`);

const parsePointer = (pointer: string): string[] => {
  if (pointer === "") return [];
  if (!pointer.startsWith("/")) throw refuse(`"${pointer}" is not a JSON pointer`);
  return pointer
    .slice(1)
    .split("/")
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
};

const indexIn = (list: readonly unknown[], token: string, limit: number): number => {
  if (!/^(0|[1-9]\d{0,8})$/.test(token) || Number(token) > limit)
    throw refuse(`"${token}" is no index of a list of ${list.length}`);
  return Number(token);
};

const child = (parent: unknown, token: string): unknown => {
  if (Array.isArray(parent)) return parent[indexIn(parent, token, parent.length - 1)] as unknown;
  if (parent === null || typeof parent !== "object" || !Object.hasOwn(parent, token))
    throw refuse(`the path has no "${token}"`);
  return (parent as Record<string, unknown>)[token];
};

const split = (pointer: string): { parents: string[]; last: string } => {
  const tokens = parsePointer(pointer);
  const last = tokens.pop();
  if (last === undefined) throw refuse("the whole document cannot be the target");
  if (FORBIDDEN_KEYS.has(last)) throw refuse(`the field name "${last}" is refused`);
  return { parents: tokens, last };
};

const find = (document: unknown, tokens: readonly string[]): unknown => tokens.reduce(child, document);

const add = (document: unknown, pointer: string, value: unknown): void => {
  const { parents, last } = split(pointer);
  const parent = find(document, parents);
  if (Array.isArray(parent)) {
    parent.splice(last === "-" ? parent.length : indexIn(parent, last, parent.length), 0, value);
    return;
  }
  if (parent === null || typeof parent !== "object") throw refuse(`${pointer}: the parent is no object`);
  (parent as Record<string, unknown>)[last] = value;
};

const remove = (document: unknown, pointer: string): unknown => {
  const { parents, last } = split(pointer);
  const parent = find(document, parents);
  const value = child(parent, last);
  if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else delete (parent as Record<string, unknown>)[last];
  return value;
};

const OPERATIONS: Readonly<Record<string, (document: unknown, operation: Operation) => void>> = {
  add: (document, { path, value }) => add(document, path, value),
  remove: (document, { path }) => void remove(document, path),
  replace: (document, { path, value }) => {
    const { parents, last } = split(path);
    const parent = find(document, parents);
    child(parent, last);
    (parent as Record<string, unknown>)[last] = value;
  },
  move: (document, { from = "", path }) => add(document, path, remove(document, from)),
  copy: (document, { from = "", path }) => add(document, path, structuredClone(find(document, parsePointer(from)))),
  test: (document, { path, value }) => {
    if (!jsonEqual(find(document, parsePointer(path)), value)) throw refuse(`testing path ${path} value failed`);
  },
};

/**
 * Applies an RFC 6902 patch to a copy of a document.
 * @throws 400 when it is no patch, 422 when it does not fit
 */
export const applyJsonPatch = <T>(document: T, patch: unknown): T => {
  if (!Array.isArray(patch)) throw badRequest("a JSON patch must be a list of operations");
  if (patch.length > MAX_OPERATIONS)
    throw new ApiStatusError(
      413,
      "RequestEntityTooLarge",
      `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${patch.length}`,
    );
  const result = structuredClone(document);
  for (const operation of patch as Operation[]) {
    const apply = Object.hasOwn(OPERATIONS, String(operation?.op)) ? OPERATIONS[operation.op] : undefined;
    if (!apply || typeof operation.path !== "string") throw refuse("an operation needs op and path");
    apply(result, operation);
  }
  return result;
};
