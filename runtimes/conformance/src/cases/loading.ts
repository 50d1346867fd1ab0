import assert from "node:assert/strict";
import { exchange } from "./exchange.js";
import type { CaseGroup } from "../conformance-case.js";

const answering = (entrypoint: string, body: string, only?: "node" | "python"): CaseGroup => ({
  title: `entrypoint ${entrypoint}`,
  pod: { entrypoint },
  cases: [
    exchange({
      id: "R27",
      title: `${entrypoint} loads`,
      ...(only && { only }),
      target: "/",
      want: { status: 200, body },
    }),
  ],
});

export const LOADING_GROUPS: readonly CaseGroup[] = [
  answering("src/app.handler", "from src/app"),
  answering("hello.handler", "hello beside a folder hello"),
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
