import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { eventually } from "../harness/eventually.js";
import { answering, deploy, nodeFiles } from "../harness/functions.js";
import { call } from "../harness/http.js";
import { startPlatform, type Tenant, type TestPlatform } from "../harness/platform.js";

/** Reads its request id before and after a pause, and logs it in between. */
const OVERLAPPING = nodeFiles(`export const handler = async (event, context) => {
  const before = context.requestId;
  console.log("before " + before);
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 100));
  console.log("after " + context.requestId);
  return { statusCode: 200, body: { before, after: context.requestId, k: process.env.K } };
};`);
const CALLS = 50;

let platform: TestPlatform;
let tenant: Tenant;
beforeAll(async () => {
  platform = await startPlatform();
  tenant = platform.tenant("concurrency");
});
afterAll(() => platform.stop());

describe("R33: overlapping calls", () => {
  it.each([1, 10])(
    "with concurrency %i: each is answered with its own id, under which its lines are filed",
    async (n) => {
      const name = `overlap-${n}`;
      const url = await deploy(tenant, name, OVERLAPPING, { scale: { min: 1, concurrency: n } });
      const answers = await Promise.all(Array.from({ length: CALLS }, () => call(url)));
      expect(answers.filter(({ status }) => status !== 200).map(({ text }) => text)).toEqual([]);
      const ids = answers.map((answer) => {
        const { before, after } = answer.json();
        expect([before, after]).toEqual([answer.headers["x-sless-request-id"], before]);
        return String(before);
      });
      expect(new Set(ids).size).toBe(CALLS);
      await eventually("every line is there under its call's id", 10_000, async () => {
        const lines: string[] = [];
        for await (const { request_id, message } of tenant.client.functions.logs(name, { tail: 1000 })) {
          if (request_id !== undefined && message.endsWith(request_id)) lines.push(message);
        }
        return lines.length === 2 * CALLS;
      });
    },
  );

  it("of two functions: each sees its own environment alone", async () => {
    const urls = await Promise.all(
      ["a", "b"].map((k) =>
        deploy(tenant, `own-${k}`, OVERLAPPING, { env_vars: { K: k }, scale: { concurrency: 10 } }),
      ),
    );
    const answers = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => (await call(urls[index % 2] ?? "")).json()["k"]),
    );
    expect(answers).toEqual(Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? "a" : "b")));
  });
});

/** Status of the first call that is turned away, which shows that its tenant's share is used up. */
const firstRefusal = (held: readonly Promise<number | undefined>[]): Promise<number | undefined> =>
  Promise.any(
    held.map(async (pending) => {
      const status = await pending;
      if (status === undefined || status < 400) throw new Error("it was not turned away");
      return status;
    }),
  );

describe("security 9: a tenant that takes all it can get", () => {
  it("leaves the calls and waits of another alone", async () => {
    const quiet = platform.tenant("quiet");
    const slow = nodeFiles("export const handler = () => new Promise((resolve) => setTimeout(resolve, 3000, 'slow'));");
    const [slowUrl, quietUrl] = await Promise.all([
      deploy(tenant, "greedy", slow, { scale: { concurrency: 1 } }),
      deploy(quiet, "quiet", answering("quiet")),
    ]);
    const greed = new AbortController();
    const held = [
      ...Array.from({ length: 400 }, () => call(slowUrl, { signal: greed.signal })),
      ...Array.from({ length: 100 }, () =>
        call(`${platform.endpoint}/v1/namespaces/me/functions/greedy?wait=gone&timeout=30`, {
          headers: { authorization: `Bearer ${tenant.token}` },
          signal: greed.signal,
        }),
      ),
    ].map((pending) => pending.then(({ status }) => status).catch(() => undefined));
    try {
      expect([429, 503]).toContain(await firstRefusal(held));
      for (let round = 0; round < 20; round++) expect((await call(quietUrl)).text).toBe("quiet");
      const { outcome } = await quiet.client.functions.wait("quiet", { until: "ready", timeout: 5 });
      expect(outcome).toBe("done");
    } finally {
      greed.abort();
      await Promise.all(held);
    }
  });
});
