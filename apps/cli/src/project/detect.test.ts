import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { loadProject } from "./config.js";
import { detectProject } from "./detect.js";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "sless-project-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const write = (files: Readonly<Record<string, string>>): void => {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), text);
  }
};

describe("detectProject", () => {
  it.each<[string, Record<string, string>, object]>([
    [
      "an ES module",
      { "index.js": "export const handler = () => 1;" },
      { runtime: "nodejs20", entrypoint: "index.handler" },
    ],
    [
      "an async function",
      { "index.mjs": "export async function handler() {}" },
      { runtime: "nodejs20", entrypoint: "index.handler" },
    ],
    ["CommonJS", { "handler.js": "exports.handler = () => 1" }, { runtime: "nodejs20", entrypoint: "handler.handler" }],
    [
      "module.exports",
      { "app.cjs": "module.exports = { handler }" },
      { runtime: "nodejs20", entrypoint: "app.handler" },
    ],
    [
      "the package's main file",
      {
        "package.json": '{"main":"./lib/run.js"}',
        "lib/run.js": "export { handler }",
        "index.js": "export const handler = 1",
      },
      { runtime: "nodejs20", entrypoint: "lib/run.handler" },
    ],
    [
      "a Python function",
      { "main.py": "import os\n\ndef handler(event, context):\n  pass" },
      { runtime: "python3.11", entrypoint: "main.handler" },
    ],
    [
      "an async Python function",
      { "app.py": "async def handler(e, c): ..." },
      { runtime: "python3.11", entrypoint: "app.handler" },
    ],
    ["a file without a handler", { "index.js": "console.log(1)" }, {}],
    ["both languages", { "index.js": "export const handler = 1", "main.py": "def handler(e, c): ..." }, {}],
    ["nothing", {}, {}],
  ])("sees %s", (_, files, found) => {
    write(files);
    expect(detectProject(dir)).toEqual(found);
  });
});

describe("loadProject", () => {
  it("lets flags win over the file, and the file over what is found", () => {
    write({
      "index.js": "export const handler = 1",
      "sless.yaml": "name: from-file\nentrypoint: other.handler\nmemory_mb: 256",
    });
    expect(loadProject(dir, { name: "from-flag", memory_mb: undefined })).toMatchObject({
      name: "from-flag",
      runtime: "nodejs20",
      entrypoint: "other.handler",
      memory_mb: 256,
    });
  });

  it("makes a function's name of the folder's", () => {
    write({ "My_App/index.js": "export const handler = 1" });
    expect(loadProject(join(dir, "My_App"), {}).name).toBe("my-app");
  });

  it.each([
    ["a typo", "memory: 1", /memory/],
    ["a value out of range", "memory_mb: 1", /memory_mb: Too small/],
    ["no YAML", "a: [", /is no YAML/],
  ])("refuses %s in the file", (_, text, message) => {
    write({ "index.js": "export const handler = 1", "sless.yaml": text });
    expect(() => loadProject(dir, {})).toThrow(message);
  });

  it("says that a folder is not there, rather than that nothing is in it", () => {
    expect(() => loadProject(join(dir, "nowhere"), {})).toThrow(/nowhere is no folder/);
  });

  it("says what to pass when nothing is obvious", () => {
    expect(() => loadProject(dir, { name: "a" })).toThrow(/--entrypoint/);
  });
});
