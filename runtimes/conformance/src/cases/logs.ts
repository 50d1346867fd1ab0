import assert from "node:assert/strict";
import type { CaseGroup, ConformanceCase } from "../conformance-case.js";

const MAX_LINE_BYTES = 16 * 1024;

const cases: ConformanceCase[] = [
  {
    id: "logs",
    title: "each line has its time, its stream and its request",
    run: async (pod) => {
      await pod.call("/levels", { requestId: "levels" });
      const out = await pod.log((line) => line.message === "to stdout");
      const error = await pod.log((line) => line.message === "to stderr");
      assert.deepEqual(
        [out.stream, out.requestId, error.stream, error.requestId],
        ["stdout", "levels", "stderr", "levels"],
      );
      assert.match(out.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    },
  },
  {
    id: "R38",
    title: "a line of 200,000 bytes is cut and says so; what follows is there, though never flushed",
    run: async (pod) => {
      for (let call = 0; call < 3; call++) {
        const requestId = `long-${String(call)}`;
        assert.equal((await pod.call("/long", { requestId })).body.toString(), "ok");
        const long = await pod.log((line) => line.requestId === requestId && line.message.startsWith("aaa"));
        assert.equal(long.message.length + (long.truncated ?? 0), 200_000);
        assert.ok(long.message.length <= MAX_LINE_BYTES);
        await pod.log((line) => line.requestId === requestId && line.message.endsWith("tail"));
      }
    },
  },
  {
    id: "security 17",
    title: "what a function prints is text: it makes no platform line and no header",
    run: async (pod) => {
      const reply = await pod.call("/forged", { requestId: "forger" });
      assert.deepEqual([reply.status, reply.body.toString(), reply.headers["x-sless-fault"]], [200, "ok", undefined]);
      const json = await pod.log((line) => line.message.includes('"forged"'));
      assert.equal(json.stream, "stdout");
      const http = await pod.log((line) => line.message.startsWith("x-sless-fault: timeout"));
      assert.equal(http.stream, "stdout");
    },
  },
  {
    id: "security 17",
    title: "control characters stay inside of the JSON text",
    run: async (pod) => {
      await pod.call("/control");
      const line = await pod.log(({ message }) => message.startsWith("bell"));
      assert.equal(line.message, "bell \u0007 escape \u001b[31m");
    },
  },
  {
    id: "logs",
    title: "what a child process prints is filed under the only call in progress",
    run: async (pod) => {
      await pod.call("/raw", { requestId: "parent" });
      const line = await pod.log(({ message }) => message === "from a child");
      assert.ok(line.requestId === "parent" || line.requestId === undefined, line.requestId);
    },
  },
  {
    id: "L4",
    title: "what the handler throws is in the log of its call, with file and line and no path of the machine",
    run: async (pod) => {
      await pod.call("/throws", { requestId: "thrower" });
      const place = await pod.log(({ message }) => /logs\.(mjs:\d+|py", line \d+)/.test(message));
      assert.deepEqual([place.requestId, place.stream], ["thrower", "stderr"]);
      await pod.log(({ message }) => message.includes("TypeError: went wrong"));
      assert.doesNotMatch(place.message, /\/logs\./);
    },
  },
  {
    id: "logs",
    title: "a line written in pieces is one line",
    run: async (pod) => {
      await pod.call("/unfinished", { requestId: "pieces" });
      assert.equal((await pod.log(({ message }) => message === "one line")).requestId, "pieces");
      await pod.log(({ message }) => message === "and another");
    },
  },
  {
    id: "security 17",
    title: "a flood of lines is bounded, and says how many were dropped",
    run: async (pod) => {
      const reply = await pod.call("/flood", { requestId: "flood" });
      assert.equal(reply.body.toString(), "ok");
      const mark = await pod.log(
        (line) => line.stream === "platform" && /\d+ log lines were dropped/.test(line.message),
      );
      const lines = pod.logs.filter((line) => line.requestId === "flood").length;
      assert.ok(lines >= 1_000 && lines < 19_000, `${String(lines)} lines came through`);
      assert.ok(Number(/^\d+/.exec(mark.message)?.[0]) > 0);
    },
  },
];

export const LOG_GROUPS: readonly CaseGroup[] = [{ title: "logs", pod: { entrypoint: "logs.handler" }, cases }];
