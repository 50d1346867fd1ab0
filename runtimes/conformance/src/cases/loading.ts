import assert from "node:assert/strict";
import { exchange, jsonOf } from "./exchange.js";
import type { CaseGroup } from "../conformance-case.js";

const answering = (entrypoint: string, body: string): CaseGroup => ({
  title: `entrypoint ${entrypoint}`,
  pod: { entrypoint },
  cases: [exchange({ id: "R27", title: `${entrypoint} loads`, target: "/", want: { status: 200, body } })],
});

/** Every place of the one line that is run stands for line 8 of the source. */
const SOURCE_MAP = { version: 3, file: "app.mjs", sources: ["../src/app.ts"], names: [], mappings: "AAOA" };

const compiledTypeScript: CaseGroup = {
  title: "compiled TypeScript",
  only: "node",
  pod: {
    entrypoint: "dist/app.handler",
    files: {
      "dist/app.mjs": 'export const handler = () => { throw new Error("typed"); };\n//# sourceMappingURL=app.mjs.map\n',
      "dist/app.mjs.map": JSON.stringify(SOURCE_MAP),
    },
  },
  cases: [
    {
      id: "L4",
      title: "a fault names the file and line of the TypeScript source",
      run: async (pod) => {
        const { stackTrace } = jsonOf(await pod.call("/")) as { stackTrace: string[] };
        assert.match(stackTrace.join("\n"), /[( ]src\/app\.ts:8:/);
      },
    },
  ],
};

const commonJs = (entrypoint: string, body: string): CaseGroup => ({ ...answering(entrypoint, body), only: "node" });

export const LOADING_GROUPS: readonly CaseGroup[] = [
  answering("src/app.handler", "from src/app"),
  answering("hello.handler", "hello beside a folder hello"),
  commonJs("cjs.handler", "from CommonJS"),
  commonJs("cjs-dynamic.handler", "from a callback"),
  compiledTypeScript,
  {
    title: "a module that loads slowly",
    pod: { entrypoint: "load/slow.handler" },
    cases: [
      {
        id: "R34",
        title: "calls that come while the code is loaded again wait for it, and lose nothing",
        run: async (pod) => {
          const reply = await pod.call("/", { method: "POST", body: "x".repeat(512 * 1024) });
          assert.equal(reply.body.toString(), String(512 * 1024));
        },
      },
    ],
  },
];
