import { afterEach, describe, expect, it } from "@jest/globals";
import { createHealthServer, type HealthCheck, type HealthServer } from "./health-server.js";
import { createMetrics } from "./metrics.js";
import { createSeriesCap, OVERFLOW_LABEL } from "./series-cap.js";

let server: HealthServer | undefined;
afterEach(() => server?.close());

const start = async (ready: HealthCheck) => {
  const metrics = createMetrics({ component: "test" });
  metrics.counter({ name: "sless_things_total", help: "Things.", labelNames: ["kind"] }).inc({ kind: "a" });
  server = await createHealthServer({
    address: { host: "127.0.0.1", port: 0 },
    live: () => ({ ok: true }),
    ready,
    metrics,
  });
  const base = `http://127.0.0.1:${server.address.port}`;
  return (path: string) => fetch(base + path);
};

describe("createHealthServer", () => {
  it("answers liveness and readiness apart", async () => {
    const get = await start(() => ({ ok: false, reason: "draining" }));
    expect((await get("/livez")).status).toBe(200);
    const ready = await get("/readyz");
    expect([ready.status, await ready.json()]).toEqual([503, { ok: false, reason: "draining" }]);
  });

  it("counts a check that throws or hangs as failed", async () => {
    const get = await start(() => Promise.reject(new Error("no API server")));
    expect(await (await get("/readyz")).json()).toEqual({ ok: false, reason: "no API server" });
    await server?.close();
    const hanging = await start(() => new Promise(() => undefined));
    expect((await hanging("/readyz")).status).toBe(503);
  });

  it("serves metrics with the component's label, and nothing else", async () => {
    const get = await start(() => ({ ok: true }));
    const text = await (await get("/metrics")).text();
    expect(text).toContain('sless_things_total{kind="a",component="test"} 1');
    expect(text).toContain("process_cpu_seconds_total");
    expect((await get("/")).status).toBe(404);
  });
});

describe("createSeriesCap", () => {
  it("security 29: gives names beyond the cap one shared label until a place is released", () => {
    const cap = createSeriesCap(1);
    expect([cap.label("a"), cap.label("b"), cap.label("a")]).toEqual(["a", OVERFLOW_LABEL, "a"]);
    cap.release("a");
    expect(cap.label("b")).toBe("b");
  });
});
