import type { Environment } from "@marcbachmann/cel-js";

type Comparable = bigint | number | string;

const add = (a: Comparable, b: Comparable): Comparable => {
  if (typeof a === "bigint" && typeof b === "bigint") return a + b;
  return Number(a) + Number(b);
};

const extreme = (list: readonly Comparable[], isBetter: (a: Comparable, b: Comparable) => boolean): Comparable => {
  const [first, ...rest] = list;
  if (first === undefined) throw new Error("min and max need a list that is not empty");
  return rest.reduce((best, item) => (isBetter(item, best) ? item : best), first);
};

const isSorted = (list: readonly Comparable[]): boolean =>
  list.every((item, index) => index === 0 || (list[index - 1] as Comparable) <= item);

const sum = (list: readonly Comparable[]): Comparable => list.reduce(add, 0n);

/**
 * Kubernetes' additions to CEL that schemas here use (lists and regular expressions). A rule with any other
 * is refused when its schema is declared, so that none is silently not checked.
 */
export const registerKubernetesFunctions = (environment: Environment): Environment =>
  environment
    .registerFunction("list.sum(): dyn", sum)
    .registerFunction("list.min(): dyn", (list: Comparable[]) => extreme(list, (a, b) => a < b))
    .registerFunction("list.max(): dyn", (list: Comparable[]) => extreme(list, (a, b) => a > b))
    .registerFunction("list.isSorted(): bool", isSorted)
    .registerFunction(
      "string.find(string): string",
      (text: string, pattern: string) => new RegExp(pattern, "u").exec(text)?.[0] ?? "",
    )
    .registerFunction("string.findAll(string): list<string>", (text: string, pattern: string) =>
      [...text.matchAll(new RegExp(pattern, "gu"))].map(([found]) => found),
    );
