import { existsSync, statSync } from "node:fs";
import { join, normalize, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { withCallback } from "./handler.js";
import { importFailure } from "./import-failure.js";
import type { Handler } from "./handler.js";

/** The function's code cannot be loaded; the message is for its author and names no path outside the code. */
export class LoadError extends Error {
  override readonly name = "LoadError";
}

const EXTENSIONS = [".js", ".mjs", ".cjs"];

interface Entrypoint {
  readonly file: string;
  readonly exportName: string;
}

/** @throws LoadError unless it is `file.export` inside the code's folder, such as `src/app.handler` */
export const parseEntrypoint = (entrypoint: string): Entrypoint => {
  const dot = entrypoint.lastIndexOf(".");
  const file = normalize(entrypoint.slice(0, Math.max(0, dot)));
  const exportName = entrypoint.slice(dot + 1);
  if (dot <= 0 || exportName === "" || file.startsWith("..") || file.startsWith(sep)) {
    throw new LoadError(
      `the entrypoint ${JSON.stringify(entrypoint)} is not of the form file.export, such as app.handler`,
    );
  }
  return { file, exportName };
};

const isFile = (path: string): boolean => existsSync(path) && statSync(path).isFile();

const findFile = (codeDir: string, { file, exportName }: Entrypoint): string => {
  const found = EXTENSIONS.map((extension) => file + extension).find((name) => isFile(join(codeDir, name)));
  if (found !== undefined) return found;
  const looked = EXTENSIONS.map((extension) => file + extension).join(", ");
  const hint = isFile(join(codeDir, `${file}.ts`))
    ? `; ${file}.ts is TypeScript: compile it and upload the result`
    : "";
  throw new LoadError(`no file for the entrypoint ${file}.${exportName}: looked for ${looked}${hint}`);
};

type Exports = Readonly<Record<string, unknown>>;

const asExports = (value: unknown): Exports =>
  (typeof value === "object" && value !== null) || typeof value === "function" ? (value as Exports) : {};

/**
 * The named export; else the one that a CommonJS module set at run time, or a bundler put under `default`.
 */
const findExport = (module: Exports, name: string): unknown => {
  const inner = asExports(module.default);
  return [module[name], inner[name], asExports(inner.default)[name]].find((value) => typeof value === "function");
};

const noSuchExport = (file: string, exportName: string, module: Exports): LoadError => {
  const names = new Set([...Object.keys(module), ...Object.keys(asExports(module.default))]);
  names.delete("module.exports");
  const exported = [...names].slice(0, 20).join(", ") || "nothing";
  return new LoadError(`${file} exports no function named ${exportName}; it exports ${exported}`);
};

/**
 * Loads the handler: CommonJS and ES modules alike.
 *
 * @throws LoadError saying what was looked for or what failed
 */
export const loadHandler = async (entrypoint: string, codeDir: string): Promise<Handler> => {
  const parsed = parseEntrypoint(entrypoint);
  const file = findFile(codeDir, parsed);
  const path = join(codeDir, file);
  let module: Exports;
  try {
    module = (await import(pathToFileURL(path).href)) as Exports;
  } catch (error) {
    throw new LoadError(`${file} cannot be imported: ${importFailure(error, path)}`);
  }
  const found = findExport(module, parsed.exportName);
  if (found === undefined) throw noSuchExport(file, parsed.exportName, module);
  const handler = found as Handler;
  return handler.length >= 3 ? withCallback(handler) : handler;
};
