import { describe, expect, it } from "@jest/globals";
import { UserError } from "../errors.js";
import { age } from "./age.js";
import { format, type Formatting } from "./format.js";
import { createProgress, formatDuration } from "./progress.js";
import { safeText } from "./safe-text.js";

interface Row {
  name: string;
  count: number | undefined;
}
const rows: Row[] = [
  { name: "a", count: 10 },
  { name: "longer", count: undefined },
];
const formatting: Formatting<Row> = {
  name: ({ name }) => name,
  columns: [
    { title: "name", value: ({ name }) => name },
    { title: "count", value: ({ count }) => count },
    { title: "twice", value: ({ count }) => (count ?? 0) * 2, wide: true },
  ],
};

describe("format", () => {
  it.each([
    ["table", "NAME     COUNT\na        10\nlonger   -"],
    ["wide", "NAME     COUNT   TWICE\na        10      20\nlonger   -       0"],
    ["name", "a\nlonger"],
    ["yaml", "items:\n  - name: a\n    count: 10\n  - name: longer"],
  ] as const)("C3: writes a list as %s", async (output, text) => {
    expect(await format({ list: rows }, formatting, { output })).toBe(text);
  });

  it("C3: writes JSON that parses, a single item as itself", async () => {
    expect(JSON.parse(await format({ list: rows }, formatting, { output: "json" }))).toEqual({
      items: [{ name: "a", count: 10 }, { name: "longer" }],
    });
    expect(JSON.parse(await format({ item: rows[0] as Row }, formatting, { output: "json" }))).toEqual({
      name: "a",
      count: 10,
    });
  });

  it("C3: filters by a jq program, and says what is wrong with a bad one", async () => {
    expect(await format({ list: rows }, formatting, { jq: ".items[].name" })).toBe("a\nlonger");
    await expect(format({ list: rows }, formatting, { jq: ".items[" })).rejects.toThrow(UserError);
  });
});

describe("safeText", () => {
  it.each([
    ["\u001b[31mred\u001b[0m", "\\x1b[31mred\\x1b[0m"],
    ["bell\u0007", "bell\\x07"],
    ["back\rspace", "back\\x0dspace"],
    ["c1 \u009b31m", "c1 \\x9b31m"],
    ["tab\tand\nline", "tab\tand\nline"],
    ["Schlüter 日本 🎉", "Schlüter 日本 🎉"],
  ])("security 17: %j is shown as %j", (text, shown) => expect(safeText(text)).toBe(shown));
});

describe("age", () => {
  it.each([
    [5, "5s"],
    [119, "119s"],
    [120, "2m"],
    [7199, "119m"],
    [7200, "2h"],
    [172_799, "47h"],
    [172_800, "2d"],
    [-10, "0s"],
  ])("%d seconds ago is %s", (seconds, text) =>
    expect(age(new Date(1_000_000_000 - seconds * 1000).toISOString(), 1_000_000_000)).toBe(text),
  );
});

describe("progress", () => {
  const record = (isTTY: boolean) => {
    const written: string[] = [];
    let now = 0;
    const progress = createProgress({
      stream: { write: (text) => written.push(text), isTTY },
      color: false,
      now: () => now,
    });
    return { progress, written, pass: (milliseconds: number) => (now += milliseconds) };
  };

  it("writes one line for each finished step where there is no terminal", async () => {
    const { progress, written, pass } = record(false);
    await progress.step("packed", (update) => {
      update("3 files");
      pass(1500);
      return Promise.resolve();
    });
    expect(written.join("")).toBe("✓ packed: 3 files (1.5 s)\n");
  });

  it("marks a step that fails and lets its error go on", async () => {
    const { progress, written } = record(false);
    await expect(progress.step("built", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(written.join("")).toBe("✗ built (0 ms)\n");
  });

  it("overwrites the running step on a terminal", async () => {
    const { progress, written } = record(true);
    await progress.step("waits", (update) => Promise.resolve(update("still")));
    expect(written.at(0)).toContain("… waits");
    expect(written.at(-1)).toBe("\r\u001b[K✓ waits: still (0 ms)\n");
  });

  it.each([
    [0, "0 ms"],
    [999, "999 ms"],
    [1000, "1.0 s"],
    [61_234, "61.2 s"],
  ])("%d ms is %s", (milliseconds, text) => expect(formatDuration(milliseconds)).toBe(text));
});

describe("createProgress", () => {
  it("makes room on a terminal for what is written while a step runs, and shows the step again below", async () => {
    let screen = "";
    const stream = { isTTY: true, write: (text: string) => (screen += text) };
    const progress = createProgress({ stream, color: false, now: () => 0 });
    await progress.step("answers", () => {
      progress.aside(() => stream.write("a log line\n"));
      progress.warn("a warning");
      return Promise.resolve();
    });
    progress.say("after");
    const shown = screen.split("\n").map((line) => line.slice(line.lastIndexOf("\r\u001b[K") + 4));
    expect(shown).toEqual(["a log line", "! a warning", "✓ answers (0 ms)", "after", ""]);
  });
});
