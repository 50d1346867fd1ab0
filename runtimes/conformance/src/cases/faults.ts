import assert from "node:assert/strict";
import { checkFault } from "./exchange.js";
import type { CaseGroup, ConformanceCase } from "../conformance-case.js";
import type { Pod, RuntimeUnderTest } from "../pod.js";

interface FaultRow {
  readonly id: string;
  readonly name: string;
  readonly fault: string;
  readonly status: number;
  readonly says: RegExp;
  readonly only?: RuntimeUnderTest["language"];
}

export const nextCallWorks = async (pod: Pod): Promise<void> => {
  const reply = await pod.call("/fine");
  assert.deepEqual([reply.status, reply.body.toString()], [200, "fine"]);
};

/** Of the pod whose calls overrun. */
const TIMEOUT_SEC = 1;
/** Of the pod whose calls end by themselves: so long that a timeout shows as the wrong fault. */
const LONG_TIMEOUT_SEC = 20;

const OVERRUNS: readonly FaultRow[] = [
  { id: "R26 R30", name: "never", fault: "timeout", status: 504, says: /1000 ms/ },
  { id: "overrun", name: "loop", fault: "timeout", status: 504, says: /1000 ms/ },
  { id: "overrun", name: "block", fault: "timeout", status: 504, says: /1000 ms/ },
  { id: "overrun", name: "regex", fault: "timeout", status: 504, says: /1000 ms/ },
  { id: "overrun", name: "microtasks", only: "node", fault: "timeout", status: 504, says: /1000 ms/ },
  { id: "overrun", name: "block-in-child", only: "node", fault: "timeout", status: 504, says: /1000 ms/ },
];

const ENDS: readonly FaultRow[] = [
  { id: "R25", name: "exit-0", fault: "exited", status: 502, says: /code 0\b/ },
  { id: "R25", name: "exit-3", fault: "exited", status: 502, says: /code 3\b/ },
  { id: "R25", name: "kill", fault: "exited", status: 502, says: /SIGKILL/ },
  { id: "R25", name: "abort", fault: "exited", status: 502, says: /SIGABRT/ },
  { id: "R37", name: "memory", fault: "out-of-memory", status: 502, says: /128/ },
  { id: "R37", name: "heap", only: "node", fault: "out-of-memory", status: 502, says: /128/ },
  { id: "late", name: "exception-aside", only: "node", fault: "handler-error", status: 502, says: /thrown aside/ },
  { id: "errors", name: "stack-overflow", fault: "handler-error", status: 502, says: /RangeError|RecursionError/ },
];

const rowCase = ({ id, name, only, fault, status, says }: FaultRow): ConformanceCase => ({
  id,
  title: `${name} ends as ${fault}, and the next call works`,
  ...(only !== undefined && { only }),
  run: async (pod) => {
    const reply = await pod.call(`/${name}`, { requestId: `fault-${name}` });
    assert.equal(reply.status, status, reply.body.toString());
    checkFault(reply, fault, says);
    assert.deepEqual(reply.headers["x-sless-version-uid"], [pod.versionUid]);
    assert.ok(Number(reply.headers["x-sless-run-ms"]?.[0]) >= 0, "x-sless-run-ms is missing");
    await nextCallWorks(pod);
  },
});

const stories: ConformanceCase[] = [
  ...["exit-0", "memory"].map((name) => ({
    id: "R25 R37",
    title: `what was printed before ${name} is in the log`,
    run: async (pod: Pod) => {
      await pod.log((line) => line.requestId === `fault-${name}` && line.message === "said before the end");
    },
  })),
  {
    id: "R26",
    title: "a timer that is left running delays nothing",
    run: async (pod) => {
      assert.equal((await pod.call("/interval")).body.toString(), "at once");
    },
  },
  ...["late-exception", "late-rejection"].map((name) => ({
    id: "late",
    title: `${name}: after the answer it is logged under its request, and the next call works`,
    only: "node" as const,
    run: async (pod: Pod) => {
      const requestId = `story-${name}`;
      assert.equal((await pod.call(`/${name}`, { requestId })).body.toString(), "answered");
      await pod.log((line) => line.requestId === requestId && /(thrown|rejected) late/.test(line.message));
      await nextCallWorks(pod);
    },
  })),
  {
    id: "R36",
    title: "a call that ends the process is answered once and not repeated",
    run: async (pod) => {
      const said = (): number => pod.logs.filter((line) => line.requestId === "once").length;
      await pod.call("/exit-3", { method: "POST", body: "x", requestId: "once" });
      await nextCallWorks(pod);
      assert.equal(pod.logs.filter((line) => line.requestId === "once" && line.stream === "stdout").length, 1);
      assert.ok(said() >= 1);
    },
  },
  {
    id: "connections",
    title: "the answer for a process that ended arrives though the caller is still sending",
    run: async (pod) => {
      const connection = await pod.connect();
      pod.send(connection, "/exit-3", { requestId: "still-sending" });
      connection.write(Buffer.alloc(4 * 1024 * 1024, "x"));
      assert.equal((await connection.reply()).status, 502);
      await connection.ended();
      await nextCallWorks(pod);
    },
  },
  {
    id: "connections",
    title: "a connection that was idle when the process died serves the next call",
    run: async (pod) => {
      const idle = await pod.connect();
      assert.equal((await pod.call("/fine", { connection: idle })).status, 200);
      assert.equal((await pod.call("/exit-3")).status, 502);
      assert.equal((await pod.call("/fine", { connection: idle })).body.toString(), "fine");
      idle.close();
    },
  },
  {
    id: "connections",
    title: "a connection whose call ran over its deadline serves the next call",
    only: "node",
    run: async (pod) => {
      const connection = await pod.connect();
      assert.equal((await pod.call("/never", { connection, deadlineMs: 200 })).status, 504);
      assert.equal((await pod.call("/fine", { connection })).body.toString(), "fine");
      connection.close();
    },
  },
  {
    id: "security 19",
    title: "a deadline that has passed runs nothing",
    run: async (pod) => {
      const reply = await pod.call("/exit-0", { deadlineMs: 0, requestId: "too-late" });
      assert.equal(reply.status, 504);
      checkFault(reply, "timeout");
      assert.equal(reply.headers["x-sless-run-ms"], undefined);
      assert.equal(pod.logs.filter((line) => line.requestId === "too-late").length, 0);
    },
  },
  {
    id: "overrun",
    title: "a body that does not arrive ends at the deadline, and the process stays",
    run: async (pod) => {
      const before = (await pod.call("/pid")).body.toString();
      const connection = await pod.connect();
      pod.send(connection, "/fine", { method: "POST", headers: { "content-length": "5" }, deadlineMs: 200 });
      const reply = await connection.reply("POST");
      assert.equal(reply.status, 504);
      connection.close();
      assert.equal((await pod.call("/pid")).body.toString(), before);
    },
  },
];

export const FAULT_GROUPS: readonly CaseGroup[] = [
  {
    title: "overruns",
    pod: { entrypoint: "faults.handler", timeoutSec: TIMEOUT_SEC },
    cases: OVERRUNS.map(rowCase),
  },
  {
    title: "ends",
    pod: { entrypoint: "faults.handler", timeoutSec: LONG_TIMEOUT_SEC },
    cases: [...ENDS.map(rowCase), ...stories],
  },
];
