import { spawn } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { Storage } from "./storage.js";
import type { KubeObject } from "./types.js";

const TYPE = "configmaps";
const object = (name: string, text = ""): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "ns" },
  data: { text },
});

describe("Storage on disk", () => {
  let directory: string;
  let opened: Storage[];
  const open = (): Storage => {
    const storage = Storage.open(directory);
    opened.push(storage);
    return storage;
  };
  const journal = () => join(directory, "state.jsonl");

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "storage-"));
    opened = [];
  });
  afterEach(async () => {
    await Promise.all(opened.map((storage) => storage.close()));
    rmSync(directory, { recursive: true, force: true });
  });

  it("has after a restart what it had before, at the same versions", async () => {
    const first = open();
    const a = first.put(TYPE, object("a"));
    first.remove(TYPE, first.put(TYPE, object("b")));
    await first.close();
    opened = [];
    const second = open();
    expect(second.list(TYPE)).toEqual([a]);
    expect(second.version).toBe(4);
    expect(second.put(TYPE, object("c")).metadata.resourceVersion).toBe("5");
  });

  it("lets a watch resume across a restart", async () => {
    const first = open();
    const a = first.put(TYPE, object("a"));
    first.put(TYPE, object("b"));
    await first.close();
    opened = [];
    const changes = open().changesSince(TYPE, Number(a.metadata.resourceVersion));
    expect(changes.map(({ after }) => after?.metadata.name)).toEqual(["b"]);
  });

  it("cuts off a torn last record and keeps the others", async () => {
    const first = open();
    first.put(TYPE, object("a"));
    const whole = statSync(journal()).size;
    await first.close();
    opened = [];
    appendFileSync(journal(), '0badc0de {"op":"put","version":3,"typeKey":"config');
    const second = open();
    expect(second.list(TYPE)).toHaveLength(1);
    expect(statSync(journal()).size).toBe(whole);
  });

  it("refuses a file that is damaged before its end, and says where", async () => {
    const first = open();
    first.put(TYPE, object("a"));
    first.put(TYPE, object("b"));
    await first.close();
    opened = [];
    writeFileSync(journal(), readFileSync(journal(), "utf8").replace('"name":"a"', '"name":"x"'));
    expect(() => Storage.open(directory)).toThrow(/record 2 at byte \d+ is damaged/);
    writeFileSync(journal(), "");
    expect(open().list(TYPE)).toEqual([]);
  });

  it("lets one process at a time in, and names the one that is there", () => {
    open();
    expect(() => Storage.open(directory)).toThrow(`is in use by process ${process.pid}`);
  });

  it("takes over the lock of a process that is gone", () => {
    writeFileSync(join(directory, "lock"), JSON.stringify({ pid: 2 ** 22 + 1, startedAt: "1" }));
    expect(open().version).toBe(1);
  });

  it("keeps its file in proportion to what lives", () => {
    const storage = open();
    const text = "x".repeat(64 * 1024);
    for (let round = 0; round < 400; round++) storage.put(TYPE, object("a", text));
    expect(statSync(journal()).size).toBeLessThan(10 * 1024 * 1024);
    expect(storage.list(TYPE)).toHaveLength(1);
  });

  it("keeps everything acknowledged when its process is killed", async () => {
    const module = fileURLToPath(new URL("../../dist/store/storage.js", import.meta.url));
    const program = `
      const { Storage } = await import(${JSON.stringify(module)});
      const storage = Storage.open(${JSON.stringify(directory)});
      for (let i = 0; ; i++) {
        storage.put("configmaps", { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "n" + i, namespace: "ns" } });
        process.stdout.write("n" + i + "\\n");
        if (i % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
      }`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let acknowledged = "";
    const killed = new Promise((resolve) => child.once("close", resolve));
    child.stdout.on("data", (chunk: Buffer) => {
      acknowledged += chunk.toString();
      if (acknowledged.length > 20_000) child.kill("SIGKILL");
    });
    await killed;
    if (acknowledged === "") throw new Error("dist is missing: run `pnpm --filter @sless/devcluster build` first");
    const names = acknowledged.split("\n").slice(0, -1);
    const kept = new Set(
      open()
        .list(TYPE)
        .map(({ metadata }) => metadata.name),
    );
    expect(names.filter((name) => !kept.has(name))).toEqual([]);
  });
});

describe("Storage history", () => {
  it("shows a type as it was at an earlier version", () => {
    const storage = Storage.open();
    const a = storage.put(TYPE, object("a"));
    storage.put(TYPE, object("b"));
    storage.put(TYPE, object("a", "changed"));
    storage.remove(TYPE, a);
    expect(storage.list(TYPE, 2)).toEqual([a]);
    expect(storage.list(TYPE, 3)).toHaveLength(2);
  });

  it("answers 410 for a version whose changes are no longer kept", () => {
    const storage = Storage.open();
    for (let i = 0; i < 10_500; i++) storage.put(TYPE, object("a", String(i)));
    expect(() => storage.changesSince(TYPE, 2)).toThrow(expect.objectContaining({ code: 410, reason: "Expired" }));
    expect(storage.changesSince(TYPE, storage.version - 1)).toHaveLength(1);
  });

  it("tells listeners of changes in order, after the write has returned", async () => {
    const storage = Storage.open();
    const heard: string[] = [];
    storage.subscribe(TYPE, ({ after }) => {
      heard.push(after?.metadata.name ?? "");
      if (after?.metadata.name === "a") storage.put(TYPE, object("from listener"));
    });
    storage.put(TYPE, object("a"));
    storage.put(TYPE, object("b"));
    expect(heard).toEqual([]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(heard).toEqual(["a", "b", "from listener"]);
  });

  it("gives out frozen objects", () => {
    const stored = Storage.open().put(TYPE, object("a"));
    expect(() => ((stored["data"] as { text: string }).text = "changed")).toThrow(TypeError);
  });
});
