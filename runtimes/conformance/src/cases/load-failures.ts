import type { LoadFailureCase } from "../conformance-case.js";

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
    pod: { entrypoint: "load/syntax.handler" },
    says: ["load/syntax.{ext}:2", "SyntaxError"],
  },
  {
    id: "R27",
    title: "a syntax error in an imported module has that module's file and line",
    pod: { entrypoint: "load/imports_syntax.handler" },
    says: ["load/syntax.{ext}:2", "SyntaxError"],
  },
  {
    id: "R27",
    title: "a syntax error in CommonJS has its file and line",
    only: "node",
    pod: { entrypoint: "load/syntax-cjs.handler" },
    says: ["load/syntax-cjs.cjs:2", "SyntaxError"],
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
    pod: { entrypoint: "load/source.handler" },
    says: ["load/source.ts", "compile"],
  },
];
