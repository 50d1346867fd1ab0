import assert from "node:assert/strict";
import { waitFor } from "../wait-for.js";
import { checkFault, jsonOf } from "./exchange.js";
import type { CaseGroup, ConformanceCase } from "../conformance-case.js";
import type { Pod } from "../pod.js";

const state = async (pod: Pod): Promise<unknown> => jsonOf(await pod.control("GET", "/state"));

const untilInFlight = (pod: Pod, count: number): Promise<unknown> =>
  waitFor(
    `${String(count)} calls in flight`,
    async () => ((await state(pod)) as { inFlight: number }).inFlight === count,
  );

/** Longer than the 5 s after which servers usually close a connection that nothing came on. */
const IDLE_MS = 5_500;

const keepAlive: ConformanceCase = {
  id: "R36",
  title: "a connection that was idle for longer than five seconds takes a call",
  run: async (pod) => {
    const connection = await pod.connect();
    assert.equal((await pod.call("/fine", { connection, method: "POST", body: "x" })).status, 200);
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
    assert.equal((await pod.call("/fine", { connection, method: "POST", body: "x" })).status, 200);
    connection.close();
  },
};

const health: ConformanceCase = {
  id: "control",
  title: "health and state are true",
  run: async (pod) => {
    assert.equal((await pod.control("GET", "/livez")).status, 200);
    assert.equal((await pod.control("GET", "/readyz")).status, 200);
    const idle = { inFlight: 0, concurrency: 2, ready: true, draining: false, versionUid: pod.versionUid };
    assert.deepEqual(await state(pod), idle);
    const call = pod.call("/sleep?ms=800");
    await untilInFlight(pod, 1);
    assert.deepEqual(await state(pod), { ...idle, inFlight: 1 });
    await call;
    await untilInFlight(pod, 0);
    assert.equal((await pod.control("GET", "/nothing")).status, 404);
  },
};

const drain: ConformanceCase = {
  id: "drain",
  title: "a drained pod ends its calls, refuses new ones, and is not ready",
  run: async (pod) => {
    const kept = await pod.connect();
    await pod.call("/fine", { connection: kept });
    await untilInFlight(pod, 0);
    const call = pod.call("/sleep?ms=1500");
    await untilInFlight(pod, 1);
    assert.equal((await pod.control("POST", "/drain")).status, 200);
    for (const connection of [kept, await pod.connect()]) {
      const refused = await pod.call("/fine", { connection, method: "POST", body: "x" });
      assert.equal(refused.status, 503);
      checkFault(refused, "draining");
      assert.deepEqual(refused.headers.connection, ["close"]);
      connection.close();
    }
    const readiness = await pod.control("GET", "/readyz");
    assert.equal(readiness.status, 503);
    assert.equal((jsonOf(readiness) as { reason: string }).reason, "Draining");
    const reply = await call;
    assert.deepEqual([reply.status, reply.body.toString(), reply.headers.connection], [200, "slept", ["close"]]);
    assert.equal((await pod.control("GET", "/livez")).status, 200);
  },
};

const terminate: ConformanceCase = {
  id: "R35",
  title: "SIGTERM lets calls in progress end, and then the pod with 0",
  run: async (pod) => {
    const call = pod.call("/sleep?ms=1000");
    await untilInFlight(pod, 1);
    pod.signal("SIGTERM");
    const reply = await call;
    assert.deepEqual([reply.status, reply.body.toString()], [200, "slept"]);
    assert.equal(await pod.exited(), 0);
    assert.equal(pod.terminationLog, "");
  },
};

const terminateStuck: ConformanceCase = {
  id: "R35",
  title: "SIGTERM ends the pod even if a call never ends",
  run: async (pod) => {
    const call = pod.call("/loop");
    await untilInFlight(pod, 1);
    pod.signal("SIGTERM");
    assert.equal((await call).status, 504);
    assert.equal(await pod.exited(), 0);
  },
};

export const LIFECYCLE_GROUPS: readonly CaseGroup[] = [
  { title: "health", pod: { entrypoint: "faults.handler", concurrency: 2 }, cases: [health, keepAlive] },
  { title: "drain", pod: { entrypoint: "faults.handler", concurrency: 2 }, cases: [drain] },
  { title: "SIGTERM", pod: { entrypoint: "faults.handler" }, cases: [terminate] },
  { title: "SIGTERM while stuck", pod: { entrypoint: "faults.handler", timeoutSec: 1 }, cases: [terminateStuck] },
];
