import type { RuntimeEntry } from "@sless/contracts";

const ENDINGS: Readonly<Record<RuntimeEntry["family"], readonly string[]>> = {
  nodejs: [".js", ".mjs", ".cjs", "/index.js", "/index.mjs", "/index.cjs"],
  python: [".py", "/__init__.py"],
};

/** Files that an entrypoint may mean: `src/app.handler` is `src/app.js` and so on; Python's modules may have dots. */
export const entrypointFiles = (entrypoint: string, family: RuntimeEntry["family"]): string[] => {
  const file = entrypoint.slice(0, entrypoint.lastIndexOf("."));
  const path = family === "python" ? file.replaceAll(".", "/") : file;
  return ENDINGS[family].map((ending) => path.replace(/^\.\//, "") + ending);
};

/** Why code can't have this entrypoint; undefined when a file of it is there. Whether it exports the handler shows when it loads. */
export const findEntrypointProblem = (
  entrypoint: string,
  family: RuntimeEntry["family"],
  paths: readonly string[],
): string | undefined => {
  const wanted = entrypointFiles(entrypoint, family);
  const there = new Set(paths);
  if (wanted.some((path) => there.has(path))) return undefined;
  const first = wanted.slice(0, family === "nodejs" ? 3 : 1).join(", ");
  const shown = paths.slice(0, 5).map((path) => JSON.stringify(path.slice(0, 100)));
  return `The entrypoint ${entrypoint} needs one of ${first} at the top of the zip, which holds ${shown.join(", ")}${paths.length > 5 ? ", …" : ""}. Change the entrypoint or the zip.`;
};
