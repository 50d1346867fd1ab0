import assert from "node:assert/strict";
import { checkFault, exchange } from "./exchange.js";
import type { CaseGroup, ConformanceCase } from "../conformance-case.js";
import type { Pod } from "../pod.js";

const nextCallWorks = async (pod: Pod): Promise<void> => {
  assert.equal((await pod.call("/fine")).body.toString(), "fine");
};

/** The head came, and then the connection was lost: a caller cannot take this for a whole answer. */
const isCutOff = async (pod: Pod, target: string): Promise<void> => {
  const connection = await pod.connect();
  pod.send(connection, target);
  await connection.until(() => connection.received.includes("\r\n\r\n") || undefined, "a head");
  await assert.rejects(connection.reply(), { name: "ConnectionLost" });
  await nextCallWorks(pod);
};

const whole: ConformanceCase[] = [
  ...["generator", "async", "async-handler"].map((name) =>
    exchange({
      id: "streams",
      title: `${name}: a generator is streamed`,
      target: `/${name}`,
      want: { status: 200, headers: { "transfer-encoding": "chunked", "content-length": null }, body: "one two" },
    }),
  ),
  ...["readable", "web"].map((name) =>
    exchange({
      id: "streams",
      title: `${name}: a stream is streamed`,
      only: "node" as const,
      target: `/${name}`,
      want: { status: 200, body: "one two" },
    }),
  ),
  exchange({
    id: "streams",
    title: "bytes pass as they are",
    target: "/bytes",
    want: { status: 200, body: Buffer.from([0, 255, 1]) },
  }),
  exchange({
    id: "streams",
    title: "a stream of nothing is an empty answer",
    target: "/empty",
    want: { status: 200, body: "" },
  }),
  exchange({
    id: "streams",
    title: "a declared length is kept",
    target: "/length",
    want: { status: 200, headers: { "content-length": "7", "transfer-encoding": null }, body: "one two" },
  }),
  {
    id: "streams",
    title: "an envelope's status and headers lead, and each piece comes when it is there",
    run: async (pod) => {
      const connection = await pod.connect();
      pod.send(connection, "/envelope");
      await connection.until(() => connection.received.includes("data: 1") || undefined, "the first piece");
      assert.ok(!connection.received.includes("data: 2"), "the pieces came together");
      const reply = await connection.reply();
      assert.deepEqual([reply.status, reply.headers["x-a"]], [201, ["1"]]);
      assert.deepEqual(reply.headers["content-type"], ["text/event-stream"]);
      assert.equal(reply.body.toString(), "data: 1\n\ndata: 2\n\n");
      connection.close();
    },
  },
  {
    id: "streams",
    title: "4 MiB arrive whole, and the connection stays",
    run: async (pod) => {
      const connection = await pod.connect();
      assert.equal((await pod.call("/big", { connection })).body.length, 64 * 65_536);
      assert.equal((await pod.call("/fine", { connection })).status, 200);
      connection.close();
    },
  },
  {
    id: "R16",
    title: "HEAD of a stream has no body",
    run: async (pod) => {
      const connection = await pod.connect();
      const head = await pod.call("/async", { connection, method: "HEAD" });
      assert.equal(head.status, 200);
      assert.equal((await pod.call("/fine", { connection })).body.toString(), "fine");
      connection.close();
    },
  },
];

const broken: ConformanceCase[] = [
  {
    id: "streams",
    title: "a source that fails before its first piece is a fault",
    run: async (pod) => {
      const reply = await pod.call("/fails-first");
      assert.equal(reply.status, 502);
      checkFault(reply, "handler-error", /the source broke/);
    },
  },
  ...["fails-midway", "bad-piece", "wrong-length"].map((name) => ({
    id: "streams",
    title: `${name}: an answer that breaks is cut off, never ended`,
    run: (pod: Pod) => isCutOff(pod, `/${name}`),
  })),
  {
    id: "streams",
    title: "a stream past its deadline is cut off",
    run: async (pod) => {
      const connection = await pod.connect();
      pod.send(connection, "/hangs", { deadlineMs: 300 });
      await assert.rejects(connection.reply(), { name: "ConnectionLost" });
      await nextCallWorks(pod);
    },
  },
  {
    id: "streams",
    title: "a caller that goes ends the source",
    run: async (pod) => {
      const connection = await pod.connect();
      pod.send(connection, "/endless", { requestId: "gone" });
      await connection.until(() => connection.received.includes("tick") || undefined, "a piece");
      connection.close();
      await pod.log((line) => line.requestId === "gone" && line.message === "the source was ended");
      await nextCallWorks(pod);
    },
  },
  {
    id: "context.signal",
    title: "a caller that goes aborts the signal",
    only: "node",
    run: async (pod) => {
      const connection = await pod.connect();
      pod.send(connection, "/signal", { requestId: "hung-up" });
      await pod.log((line) => line.requestId === "hung-up" && line.message === "listening");
      connection.close();
      await pod.log((line) => line.requestId === "hung-up" && line.message === "aborted: AbortError");
    },
  },
  {
    id: "context.signal",
    title: "the deadline aborts the signal",
    only: "node",
    run: async (pod) => {
      const reply = await pod.call("/signal", { requestId: "late", deadlineMs: 100 });
      assert.equal(reply.status, 504);
      await pod.log((line) => line.requestId === "late" && line.message === "aborted: TimeoutError");
      await nextCallWorks(pod);
    },
  },
];

export const STREAM_GROUPS: readonly CaseGroup[] = [
  { title: "streams", pod: { entrypoint: "streams.handler", concurrency: 4 }, cases: [...whole, ...broken] },
];
