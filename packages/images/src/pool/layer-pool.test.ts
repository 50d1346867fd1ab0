import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { buildZip } from "@sless/testing";
import { CodeRejected } from "../code/errors.js";
import { DEFAULT_CODE_LIMITS } from "../code/limits.js";
import { LayerPoolBusy, LayerPoolClosed, LayerTimeout, LayerWorkerDied } from "./errors.js";
import { createLayerPool, type LayerPool, type LayerPoolOptions } from "./layer-pool.js";

let folder: string;
let pool: LayerPool | undefined;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sless-pool-"));
  slow = file(buildZip(Array.from({ length: 3 }, (_, i) => ({ name: `f${i}`, content: Buffer.alloc(75_000_000, i) }))));
});
afterEach(() => pool?.close());
afterAll(() => rmSync(folder, { recursive: true }));

function start(options: LayerPoolOptions = {}): LayerPool {
  pool = createLayerPool(options);
  return pool;
}
let count = 0;
function file(bytes: Buffer): string {
  const path = join(folder, `${count++}.zip`);
  writeFileSync(path, bytes);
  return path;
}
const small = () => file(buildZip([{ name: "index.js", content: "export const handler = () => 1;" }]));
/** Keeps a worker busy for a while: much to inflate and to hash. */
let slow: string;
const generous = { ...DEFAULT_CODE_LIMITS, compressionRatio: 10_000 };
const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

describe("layerFromZip", () => {
  it("writes a gzip whose tar has the code digest and whose bytes have the blob digest", async () => {
    const text = Buffer.alloc(50_000, "large enough to keep its deflate stream ");
    const zip = file(
      buildZip([
        { name: "b/large.txt", content: text },
        { name: "a.js", content: "1" },
        { name: "huge", content: Buffer.alloc(3_000_000, "x") },
      ]),
    );
    const out = join(folder, "layer.tar.gz");
    const layer = await start().layerFromZip(zip, out, { tenant: "a" });
    const bytes = readFileSync(out);
    expect(layer).toMatchObject({
      digest: `sha256:${sha256(bytes)}`,
      size: bytes.length,
      entries: 4,
      unpackedSize: 3_050_001,
      warnings: [],
    });
    expect(sha256(gunzipSync(bytes))).toBe(layer.codeDigest);
    expect(layer.files.map(({ path }) => path)).toEqual(["a.js", "b/large.txt", "huge"]);
    expect(execFileSync("tar", ["xzOf", out, "function/b/large.txt"])).toEqual(text);
    expect(await start().digestOfZip(zip, { tenant: "a" })).toMatchObject({ codeDigest: layer.codeDigest });
  });

  it("hands the refusal of a zip over whole, and leaves no file", async () => {
    const out = join(folder, "refused.tar.gz");
    const zip = file(
      buildZip([
        { name: "a", content: "1" },
        { name: "b", content: "xyz", crc: 1 },
      ]),
    );
    const error = await start()
      .layerFromZip(zip, out, { tenant: "a" })
      .catch((e: unknown) => e);
    expect(error).toBeInstanceOf(CodeRejected);
    expect(error).toMatchObject({ fault: "Corrupt", path: "b" });
    expect(existsSync(out)).toBe(false);
  });

  it("goes on after a refusal", async () => {
    const threads = start({ workers: 1 });
    await expect(threads.digestOfZip(file(Buffer.from("no zip")), { tenant: "a" })).rejects.toThrow(CodeRejected);
    await expect(threads.digestOfZip(small(), { tenant: "a" })).resolves.toMatchObject({ entries: 1 });
  });
});

describe("bounds", () => {
  it("ends a task beyond its time, removes what it wrote, and goes on with a new thread", async () => {
    const threads = start({ workers: 1, timeoutMs: 150, limits: generous });
    const out = join(folder, "late.tar.gz");
    await expect(threads.layerFromZip(slow, out, { tenant: "a" })).rejects.toThrow(LayerTimeout);
    expect(existsSync(out)).toBe(false);
    await pool?.close();
    await expect(start({ workers: 1 }).digestOfZip(small(), { tenant: "a" })).resolves.toMatchObject({ entries: 1 });
  });

  it("reports a thread that ran out of memory and replaces it", async () => {
    const names = Array.from({ length: 20_000 }, (_, i) => ({
      name: `${"n".repeat(200)}${i}`,
      method: "store" as const,
    }));
    const threads = start({ workers: 1, heapMB: 8 });
    await expect(threads.inspectZip(file(buildZip(names)), { tenant: "a" })).rejects.toThrow(LayerWorkerDied);
    await expect(threads.inspectZip(small(), { tenant: "a" })).resolves.toMatchObject({ entries: 1 });
  });

  it("ends what the caller no longer wants, waiting or running", async () => {
    const threads = start({ workers: 1, limits: generous });
    const [running, waiting] = [new AbortController(), new AbortController()];
    const first = threads.digestOfZip(slow, { tenant: "a", signal: running.signal });
    const second = threads.digestOfZip(slow, { tenant: "a", signal: waiting.signal });
    waiting.abort(new Error("not any more"));
    await expect(second).rejects.toThrow("not any more");
    running.abort(new Error("enough"));
    await expect(first).rejects.toThrow("enough");
    await expect(threads.digestOfZip(small(), { tenant: "a" })).resolves.toBeDefined();
  });

  it("fails what waits and runs when it closes", async () => {
    const threads = start({ workers: 1, limits: generous });
    const tasks = [threads.digestOfZip(slow, { tenant: "a" }), threads.digestOfZip(slow, { tenant: "a" })];
    const outcomes = Promise.allSettled(tasks);
    await threads.close();
    expect(
      (await outcomes).map((outcome) => outcome.status === "rejected" && outcome.reason instanceof LayerPoolClosed),
    ).toEqual([true, true]);
    await expect(threads.digestOfZip(small(), { tenant: "a" })).rejects.toThrow(LayerPoolClosed);
  });

  it("security 9: a tenant that fills its share is refused, and another is served before its queue", async () => {
    const threads = start({ workers: 2, queue: 8, queuePerTenant: 3, limits: generous });
    const order: string[] = [];
    const submit = (tenant: string, zip: string) =>
      threads.digestOfZip(zip, { tenant }).then(
        () => order.push(tenant),
        (error: unknown) => order.push(error instanceof LayerPoolBusy ? `${tenant} busy` : "failed"),
      );
    const greedy = Array.from({ length: 6 }, () => submit("greedy", slow));
    await submit("modest", small());
    expect(order.filter((who) => who === "greedy busy")).toHaveLength(2);
    expect(order.at(-1)).toBe("modest");
    await pool?.close();
    await Promise.all(greedy);
  });

  it("security 22: a bomb costs bounded memory and never the caller's event loop", () => {
    const entry = fileURLToPath(new URL("../../dist/index.js", import.meta.url));
    const program = `
      const { createLayerPool, DEFAULT_CODE_LIMITS } = await import(${JSON.stringify(entry)});
      const pool = createLayerPool({ workers: 1, limits: { ...DEFAULT_CODE_LIMITS, compressionRatio: 10_000 } });
      await pool.inspectZip(${JSON.stringify(slow)}, { tenant: "a" });
      const start = performance.now(); let last = start, longest = 0;
      const beat = setInterval(() => { const now = performance.now(); longest = Math.max(longest, now - last); last = now; }, 5);
      const before = process.memoryUsage.rss(); let most = 0;
      const watch = setInterval(() => { most = Math.max(most, process.memoryUsage.rss()); }, 5);
      const { unpackedSize } = await pool.layerFromZip(${JSON.stringify(slow)}, ${JSON.stringify(join(folder, "bomb.tar.gz"))}, { tenant: "a" });
      clearInterval(beat); clearInterval(watch);
      await pool.close();
      process.stdout.write(JSON.stringify({ unpackedSize, grownMB: (most - before) / 2 ** 20, blockedShare: longest / (performance.now() - start) }));`;
    const output = execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
    const measured = JSON.parse(output) as { unpackedSize: number; grownMB: number; blockedShare: number };
    expect(measured.unpackedSize).toBe(225_000_000);
    expect(measured.grownMB).toBeLessThan(120);
    expect(measured.blockedShare).toBeLessThan(1 / 3);
  });
});
