import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { loadProject } from "../project/config.js";
import { runCli } from "../run-cli.js";
import { openTerminal } from "../terminal.js";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "sless-init-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const sless = async (...argv: string[]): Promise<{ code: number; said: string }> => {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const env = { HOME: dir };
  const interrupted = new AbortController().signal;
  const code = await runCli(argv, openTerminal({ stdin, stdout, stderr, env, cwd: dir, interrupted }));
  stderr.end();
  return { code, said: await text(stderr) };
};

describe("sless init", () => {
  it.each([
    ["hello-node", "my-function"],
    ["hello-python", "my-function"],
    ["hello-node", "My_Function"],
  ])("calls the function of %s by its folder %s", async (template, folder) => {
    expect(await sless("init", folder, "--template", template)).toMatchObject({ code: 0 });
    expect(loadProject(join(dir, folder), {}).name).toBe("my-function");
  });

  it("names the package too", async () => {
    await sless("init", "my-function");
    expect(JSON.parse(readFileSync(join(dir, "my-function/package.json"), "utf8"))).toMatchObject({
      name: "my-function",
    });
  });

  it("prints a cd that a shell takes for one word", async () => {
    expect((await sless("init", "my function")).said).toContain("cd 'my function'");
  });

  it.each(["1", "a".repeat(41)])("refuses the folder %s, which names no function", async (folder) => {
    expect(await sless("init", folder)).toMatchObject({ code: 2, said: expect.stringContaining("lower-case letters") });
  });
});
