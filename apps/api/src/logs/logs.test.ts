import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { LABELS, workloadNamespace } from "@sless/contracts";
import { pods, type Pod } from "@sless/kube";
import { eventually } from "@sless/kube/testing";
import { request } from "undici";
import { startApiFixture, type ApiFixture } from "../testing/api-fixture.js";
import { parseSince } from "./since.js";

const FUNCTIONS = "/v1/namespaces/me/functions";

/** A pod's log that tests write to while it is read. */
const createPodLog = () => {
  const lines: string[] = [];
  let ended = false;
  return {
    print: (time: string, message: string): void => {
      lines.push(`${time} ${JSON.stringify({ time, stream: "stdout", message, requestId: "r1" })}\n`);
    },
    printRaw: (line: string): void => void lines.push(line),
    end: (): void => {
      ended = true;
    },
    async *read({
      follow,
      since,
      signal,
      tail,
    }: {
      follow: boolean;
      since: string;
      signal: AbortSignal;
      tail: number | undefined;
    }) {
      let next = tail === undefined ? 0 : Math.max(0, lines.length - tail);
      for (;;) {
        for (; next < lines.length; next++) if ((lines[next] ?? "") >= since) yield lines[next] ?? "";
        if (!follow || ended || signal.aborted) return;
        await delay(5);
      }
    },
  };
};
type PodLog = ReturnType<typeof createPodLog>;

describe("logs", () => {
  let api: ApiFixture;
  let token: string;
  let fn: { uid: string; namespace: string };
  const logs = new Map<string, PodLog>();

  beforeAll(async () => {
    api = await startApiFixture();
    token = api.issuer.token("alice");
    const json = { name: "talker", runtime: "nodejs20", entrypoint: "index.handler" };
    fn = (await api.call("POST", FUNCTIONS, { token, json })).body;
    api.cluster.podLogs = ({ pod, follow, sinceTime, signal, tailLines }) => {
      const log = logs.get(pod.metadata.name);
      if (!log) throw new Error("no such log");
      // The cluster rounds down to seconds, so lines come again.
      return log.read({ follow, since: sinceTime?.slice(0, 19) ?? "", signal, tail: tailLines });
    };
  });
  beforeEach(async () => {
    const namespace = workloadNamespace(fn.namespace);
    for (const name of logs.keys()) await api.cluster.kube.delete(pods, { name, namespace }, { gracePeriodSeconds: 0 });
    logs.clear();
  });
  afterAll(() => api.close());

  const startPod = async (name: string, version: number): Promise<PodLog> => {
    const log = createPodLog();
    logs.set(name, log);
    const key = { name, namespace: workloadNamespace(fn.namespace) };
    await api.cluster.kube.create<Pod>(pods, {
      metadata: { ...key, labels: { [LABELS.functionUid]: fn.uid, [LABELS.version]: String(version) } },
      spec: { containers: [{ name: "function", image: "x" }] },
    });
    const state = { running: { startedAt: "2026-01-01T00:00:00Z" } };
    await api.cluster.kube.patchStatus(pods, key, {
      phase: "Running",
      containerStatuses: [{ name: "function", image: "x", imageID: "", ready: true, restartCount: 0, state }],
    });
    return log;
  };

  const read = async (query = ""): Promise<string[]> => {
    const { body } = await api.call("GET", `${FUNCTIONS}/talker/logs${query}`, { token });
    return (body as { message: string }[]).map(({ message }) => message);
  };

  it("answers an empty log when no pod was ever there", async () => {
    expect((await api.call("GET", `${FUNCTIONS}/talker/logs`, { token })).status).toBe(200);
  });

  it("merges the lines of all pods in order of time, and cuts to the tail", async () => {
    const [a, b] = [await startPod("talker-a", 1), await startPod("talker-b", 2)];
    a.print("2026-01-01T00:00:01.000Z", "one");
    b.print("2026-01-01T00:00:02.000Z", "two");
    a.print("2026-01-01T00:00:03.000Z", "three");
    expect(await read()).toEqual(["one", "two", "three"]);
    expect(await read("?tail=2")).toEqual(["two", "three"]);
    expect(await read("?tail=0")).toEqual([]);
    expect(await read("?since=2026-01-01T00:00:02Z")).toEqual(["two", "three"]);
    expect(await read("?version=2")).toEqual(["two"]);
  });

  it("knows each line's request, version and pod; passes on what is not the runtime's as text (security 17)", async () => {
    const log = await startPod("talker-c", 7);
    log.print("2026-01-01T00:00:01.000Z", "hi");
    log.printRaw('2026-01-01T00:00:02.000Z {"status":"Ready","stream":"platform"}\n');
    const { body } = await api.call("GET", `${FUNCTIONS}/talker/logs`, { token });
    expect(body).toEqual([
      {
        time: "2026-01-01T00:00:01.000Z",
        version: 7,
        pod: "talker-c",
        request_id: "r1",
        stream: "stdout",
        message: "hi",
      },
      {
        time: "2026-01-01T00:00:02.000Z",
        version: 7,
        pod: "talker-c",
        stream: "stderr",
        message: '{"status":"Ready","stream":"platform"}',
      },
    ]);
  });

  /** Follows and gathers messages until told to stop. */
  const follow = async (query: string, bearer = token) => {
    const answer = await request(`${api.replica.url}${FUNCTIONS}/talker/logs?follow=true${query}`, {
      headers: { authorization: `Bearer ${bearer}` },
    });
    const messages: string[] = [];
    let ended = false;
    const reading = (async () => {
      let rest = "";
      for await (const chunk of answer.body as AsyncIterable<Buffer>) {
        const lines = (rest + chunk.toString()).split("\n");
        rest = lines.pop() ?? "";
        messages.push(
          ...lines.filter((line) => line !== "").map((line) => (JSON.parse(line) as { message: string }).message),
        );
      }
    })().finally(() => {
      ended = true;
    });
    reading.catch(() => undefined);
    answer.body.on("error", () => undefined);
    return { messages, ended: () => ended, stop: () => answer.body.destroy() };
  };

  it("follows through the replacement of a pod, none twice and none lost", async () => {
    const first = await startPod("talker-d", 1);
    first.print("2026-01-01T00:00:01.100Z", "old");
    first.print("2026-01-01T00:00:01.200Z", "before");
    const { messages, stop } = await follow("&tail=1");
    await eventually("the past is there", () => messages.length === 1);
    first.print("2026-01-01T00:00:01.300Z", "live");
    await eventually("the live line is there", () => messages.length === 2);
    const second = await startPod("talker-e", 2);
    second.print("2026-01-01T00:00:02.000Z", "new pod");
    await eventually("the new pod is joined", () => messages.length === 3);
    first.end();
    await api.cluster.kube.delete(
      pods,
      { name: "talker-d", namespace: workloadNamespace(fn.namespace) },
      { gracePeriodSeconds: 0 },
    );
    logs.delete("talker-d");
    second.print("2026-01-01T00:00:03.000Z", "after");
    await eventually("it goes on", () => messages.length === 4);
    expect(messages).toEqual(["before", "live", "new pod", "after"]);
    stop();
  });

  it("begins with what is new when the tail is 0", async () => {
    const log = await startPod("talker-f", 1);
    log.print("2026-01-01T00:00:01.100Z", "old");
    const { messages, stop } = await follow("&tail=0");
    log.print("2026-01-01T00:00:01.200Z", "new");
    await eventually("the new line is there", () => messages.length > 0);
    expect(messages).toEqual(["new"]);
    stop();
  });

  it("security 25: ends with its token", async () => {
    await startPod("talker-g", 1);
    const { ended } = await follow("", api.issuer.token("alice", { exp: Date.now() / 1000 + 1 }));
    await eventually("the stream has ended", ended);
  });
});

describe("since", () => {
  const now = Date.parse("2026-01-01T01:00:00Z");
  it.each([
    { text: "90s", is: "2026-01-01T00:58:30.000Z" },
    { text: "15m", is: "2026-01-01T00:45:00.000Z" },
    { text: "1h", is: "2026-01-01T00:00:00.000Z" },
    { text: "2026-01-01T00:30:00+01:00", is: "2025-12-31T23:30:00.000Z" },
  ])("$text", ({ text, is }) => expect(parseSince(text, now).toISOString()).toBe(is));
  it.each(["yesterday", "-5m", "5", "5w", "2026-13-01T00:00:00Z"])("refuses %s", (text) => {
    expect(() => parseSince(text, now)).toThrow(/90s/);
  });
});
