import { stringify } from "yaml";
import { UserError } from "../errors.js";
import { safeText } from "./safe-text.js";

export const OUTPUT_FORMATS = ["table", "wide", "json", "yaml", "name"] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** One column of a table. `wide` ones show with `-o wide` only. */
export interface Column<T> {
  readonly title: string;
  readonly value: (item: T) => string | number | undefined;
  readonly wide?: boolean;
}

export interface Formatting<T> {
  readonly columns: readonly Column<T>[];
  /** What `-o name` prints: feeds `xargs`. */
  readonly name: (item: T) => string;
}

export interface OutputOptions {
  readonly output?: OutputFormat;
  readonly jq?: string;
}

const GAP = "   ";

const table = <T>(items: readonly T[], columns: readonly Column<T>[]): string => {
  const rows = [
    columns.map(({ title }) => title.toUpperCase()),
    ...items.map((item) => columns.map(({ value }) => safeText(String(value(item) ?? "-")).replace(/\n/g, " "))),
  ];
  const widths = columns.map((_, index) => Math.max(...rows.map((row) => (row[index] ?? "").length)));
  return rows
    .map((row) =>
      row
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join(GAP)
        .trimEnd(),
    )
    .join("\n");
};

/** Runs a jq program over a value; jq itself, compiled to WebAssembly. */
const runJq = async (value: object, program: string): Promise<string> => {
  const { raw } = await import("jq-wasm");
  // A program that jq refuses makes Emscripten set the exit code of the whole process.
  const { exitCode } = process;
  try {
    return await raw(value, program, ["-r"]);
  } catch (error) {
    throw new UserError(`--jq: ${(error as Error).message}`, "usage");
  } finally {
    process.exitCode = exitCode;
  }
};

/**
 * Writes items in the format that was asked for: a list as `{items: […]}` in JSON and YAML, a single item as itself.
 * @returns the text without a final line feed
 */
export const format = async <T>(
  data: { readonly list: readonly T[] } | { readonly item: T },
  { columns, name }: Formatting<T>,
  { output = "table", jq }: OutputOptions,
): Promise<string> => {
  const items = "list" in data ? data.list : [data.item];
  const value = "list" in data ? { items: data.list } : data.item;
  if (jq !== undefined) return await runJq(value as object, jq);
  switch (output) {
    case "json":
      return JSON.stringify(value, null, 2);
    case "yaml":
      return stringify(value).trimEnd();
    case "name":
      return items.map(name).join("\n");
    case "table":
    case "wide":
      return table(
        items,
        columns.filter(({ wide }) => output === "wide" || wide !== true),
      );
  }
};
