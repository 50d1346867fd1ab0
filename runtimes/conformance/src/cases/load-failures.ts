import type { LoadFailureCase } from "../conformance-case.js";

/** A module with a syntax error in its second line, and one that imports it. */
const BROKEN: NonNullable<LoadFailureCase["files"]> = {
  node: {
    "lib/broken.mjs": "export const fine = 1;\nexport const handler = () => ;\n",
    "app.mjs": 'import "./lib/broken.mjs";\nexport const handler = () => "never";\n',
  },
  python: {
    "lib/broken.py": "fine = 1\ndef handler(event, context) return 1\n",
    "app.py": 'import lib.broken\n\ndef handler(event, context):\n    return "never"\n',
  },
};

/** Each ends the pod with exit code 1 and a message for the function's `Ready` condition. */
export const LOAD_FAILURES: readonly LoadFailureCase[] = [
  {
    id: "R27",
    title: "a missing file is named, with what was looked for",
    pod: { entrypoint: "load/nowhere.handler" },
    says: ["load/nowhere.handler", "load/nowhere."],
  },
  {
    id: "R27",
    title: "a missing export is named, with what there is",
    pod: { entrypoint: "load/no_export.main" },
    says: ["load/no_export.{ext}", "main", "handle"],
  },
  {
    id: "R27",
    title: "an export that is no function is no handler",
    pod: { entrypoint: "load/no_export.handler" },
    says: ["load/no_export.{ext}", "handler"],
  },
  {
    id: "R27",
    title: "a syntax error has its file and line",
    pod: { entrypoint: "lib/broken.handler" },
    files: BROKEN,
    says: ["lib/broken.{ext}:2", "SyntaxError"],
  },
  {
    id: "R27",
    title: "a syntax error in an imported module has that module's file and line",
    pod: { entrypoint: "app.handler" },
    files: BROKEN,
    says: ["lib/broken.{ext}:2", "SyntaxError"],
  },
  {
    id: "R27",
    title: "a syntax error in CommonJS has its file and line",
    only: "node",
    pod: { entrypoint: "app.handler" },
    files: { node: { "app.cjs": "const fine = 1;\nexports.handler = () => ;\n" } },
    says: ["app.cjs:2", "SyntaxError"],
  },
  {
    id: "R22",
    title: "a module that is not installed is named",
    pod: { entrypoint: "load/missing_module.handler" },
    says: ["not", "installed", "anywhere"],
  },
  {
    id: "R22",
    title: "an exception at import is told with its message and line",
    pod: { entrypoint: "load/throws.handler" },
    says: ["configuration is missing", "load/throws.{ext}:1"],
  },
  {
    id: "R25",
    title: "an exit at import is told with its code",
    pod: { entrypoint: "load/exits.handler" },
    says: ["code 4"],
  },
  {
    id: "loading",
    title: "a module that never finishes loading ends at a limit",
    pod: { entrypoint: "load/hangs.handler", env: { SLESS_LOAD_TIMEOUT_SEC: "0.5" } },
    says: ["load/hangs.handler", "0.5 s"],
  },
  {
    id: "loading",
    title: "an entrypoint without an export is explained",
    pod: { entrypoint: "handler" },
    says: ["handler", "file.export"],
  },
  {
    id: "security 3",
    title: "an entrypoint outside of the code is refused",
    pod: { entrypoint: "../../../etc/passwd.handler" },
    says: ["file.export"],
  },
  {
    id: "loading",
    title: "TypeScript that was not compiled is explained",
    only: "node",
    pod: { entrypoint: "app.handler" },
    files: { node: { "app.ts": "export const handler = (): string => 'never';\n" } },
    says: ["app.ts", "compile"],
  },
];
