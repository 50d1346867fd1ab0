type Step = (values: readonly unknown[]) => unknown[];

const isObject = (value: unknown): value is Record<string, unknown> => value !== null && typeof value === "object";

const field =
  (name: string): Step =>
  (values) =>
    values.flatMap((value) => (isObject(value) && Object.hasOwn(value, name) ? [value[name]] : []));

const index =
  (position: number): Step =>
  (values) =>
    values.flatMap((value) => {
      if (!Array.isArray(value)) return [];
      const found = (value as unknown[]).at(position);
      return found === undefined ? [] : [found];
    });

const everything: Step = (values) => values.flatMap((value) => (isObject(value) ? Object.values(value) : []));

const filter =
  (name: string, expected: string): Step =>
  (values) =>
    values.flatMap((value) =>
      Array.isArray(value)
        ? (value as unknown[]).filter((item) => isObject(item) && String(item[name]) === expected)
        : [],
    );

const TOKEN =
  /\.((?:[^.[\]\\]|\\.)+)|\[(-?\d{1,6})\]|\[(\*)\]|\[\?\(@\.([A-Za-z0-9_-]+)\s*==\s*["']([^"']*)["']\)\]|\['([^']+)'\]/y;

const toStep = (match: RegExpExecArray): Step => {
  const [, name, position, star, key, expected = "", quoted] = match;
  if (star !== undefined || name === "*") return everything;
  if (position !== undefined) return index(Number(position));
  if (key !== undefined) return filter(key, expected);
  return field(quoted ?? (name ?? "").replaceAll(/\\(.)/g, "$1"));
};

const MAX_LENGTH = 1000;

/**
 * Compiles the part of kubectl's JSONPath that printer columns use: fields, indexes, `[*]` and equality filters.
 * @returns finds the first value, or undefined
 * @throws when the path is anything else
 */
export const compileJsonPath = (path: string): ((value: unknown) => unknown) => {
  const text = path.startsWith(".") || path.startsWith("[") ? path : `.${path}`;
  const steps: Step[] = [];
  const token = new RegExp(TOKEN);
  if (text.length > MAX_LENGTH) throw new Error(`the path is longer than ${MAX_LENGTH} characters`);
  while (token.lastIndex < text.length) {
    const start = token.lastIndex;
    const match = token.exec(text);
    if (!match) throw new Error(`${JSON.stringify(text.slice(start))} is not understood`);
    steps.push(toStep(match));
  }
  return (value) => steps.reduce<unknown[]>((values, step) => step(values), [value])[0];
};
