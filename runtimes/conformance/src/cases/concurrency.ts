import assert from "node:assert/strict";
import { waitFor } from "../wait-for.js";
import { checkFault, faultOf, jsonOf } from "./exchange.js";
import { nextCallWorks } from "./faults.js";
import type { CaseGroup, ConformanceCase } from "../conformance-case.js";
import type { Pod } from "../pod.js";

const inFlight = async (pod: Pod): Promise<number> =>
  (jsonOf(await pod.control("GET", "/state")) as { inFlight: number }).inFlight;

/** Waits until the pod itself counts this many calls. */
const untilInFlight = (pod: Pod, count: number): Promise<unknown> =>
  waitFor(`${String(count)} calls in flight`, async () => (await inFlight(pod)) === count);

const CALLS = 50;

const pairs: ConformanceCase = {
  id: "R33",
  title: "50 calls at once keep their ids apart, in answers and in the log; what is too much is told to go elsewhere",
  run: async (pod) => {
    const ids = Array.from({ length: CALLS }, (_, index) => `pair-${pod.host}-${String(index)}`);
    const replies = await Promise.all(ids.map((requestId) => pod.call("/pair", { requestId })));
    const served = ids.filter((_, index) => replies[index]?.status === 200);
    replies.forEach((reply, index) => {
      if (reply.status !== 200) checkFault(reply, "busy");
      else assert.deepEqual(jsonOf(reply), { first: ids[index], second: ids[index] });
    });
    assert.ok(served.length >= 1);
    for (const id of served) {
      const line = await pod.log(({ message }) => message === `pair ${id}`);
      assert.equal(line.requestId, id);
    }
  },
};

const busy: ConformanceCase = {
  id: "busy",
  title: "a call beyond the concurrency is refused before its body is read, and served afterwards",
  run: async (pod) => {
    const first = pod.call("/sleep?ms=1000");
    await untilInFlight(pod, 1);
    const connection = await pod.connect();
    pod.send(connection, "/fine", { method: "POST", headers: { "content-length": "100000", expect: "100-continue" } });
    const refused = await connection.reply("POST");
    assert.equal(refused.status, 503);
    checkFault(refused, "busy");
    connection.close();
    const kept = await pod.connect();
    assert.equal(faultOf(await pod.call("/fine", { connection: kept })), "busy");
    assert.equal((await first).body.toString(), "slept");
    assert.equal((await pod.call("/fine", { connection: kept })).status, 200);
    kept.close();
    await untilInFlight(pod, 0);
  },
};

const together: ConformanceCase[] = [
  {
    id: "concurrency",
    title: "calls run side by side up to the concurrency",
    run: async (pod) => {
      const calls = Array.from({ length: 3 }, () => pod.call("/sleep?ms=1000"));
      await untilInFlight(pod, 3);
      for (const reply of await Promise.all(calls)) assert.equal(reply.status, 200);
    },
  },
  {
    id: "overrun",
    title: "the neighbour of a call that ran over its deadline finishes, while new calls are served",
    run: async (pod) => {
      const neighbour = pod.call("/sleep?ms=1500");
      await untilInFlight(pod, 1);
      const late = await pod.call("/never", { deadlineMs: 150 });
      assert.equal(late.status, 504);
      await nextCallWorks(pod);
      const reply = await neighbour;
      assert.deepEqual([reply.status, reply.body.toString()], [200, "slept"]);
      await nextCallWorks(pod);
    },
  },
  {
    id: "overrun",
    title: "in a stuck process the call gets 504 and its neighbour 502 with the reason",
    run: async (pod) => {
      const neighbour = pod.call("/sleep?ms=5000");
      await untilInFlight(pod, 1);
      const late = await pod.call("/block", { deadlineMs: 300 });
      assert.equal(late.status, 504);
      checkFault(late, "timeout");
      const reply = await neighbour;
      assert.equal(reply.status, 502);
      checkFault(reply, "exited", /another call/);
      await nextCallWorks(pod);
    },
  },
  {
    id: "R25",
    title: "a process that ends takes its calls with it, each with the code",
    run: async (pod) => {
      const neighbour = pod.call("/sleep?ms=5000");
      await untilInFlight(pod, 1);
      for (const reply of await Promise.all([pod.call("/exit-3"), neighbour])) checkFault(reply, "exited", /code 3\b/);
      await nextCallWorks(pod);
    },
  },
];

export const CONCURRENCY_GROUPS: readonly CaseGroup[] = [
  { title: "ids, one call at a time", pod: { entrypoint: "logs.handler", concurrency: 1 }, cases: [pairs] },
  { title: "ids, ten calls at a time", pod: { entrypoint: "logs.handler", concurrency: 10 }, cases: [pairs] },
  { title: "one call at a time", pod: { entrypoint: "faults.handler", concurrency: 1 }, cases: [busy] },
  { title: "calls side by side", pod: { entrypoint: "faults.handler", concurrency: 4 }, cases: together },
];
