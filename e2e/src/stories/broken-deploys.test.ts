import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FunctionBody } from "@sless/contracts";
import { call } from "../harness/http.js";
import { startPlatform, type TestPlatform } from "../harness/platform.js";

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform.stop());

const makeFolder = (): string => mkdtempSync(join(platform.dataDir, "code-"));
const write = (dir: string, code: string) => writeFileSync(join(dir, "index.mjs"), code);
const good = (text: string) => `export const handler = async () => ${JSON.stringify(text)};\n`;
const deployFolder = (dir: string, name: string, ...args: string[]) =>
  platform.sless(["deploy", dir, "--name", name, "--runtime", "nodejs20", "--entrypoint", "index.handler", ...args]);
const get = async (name: string): Promise<FunctionBody> =>
  (await platform.tenant("developer").client.functions.get(name)).value;
const condition = (fn: FunctionBody, type: string) => fn.status.conditions.find((one) => one.type === type);

const BROKEN = [
  { name: "syntax", code: "export const handler = async () => {\n  return (;\n};\n", says: /index\.mjs:2/ },
  { name: "missing-export", code: "export const other = () => 1;\n", says: /handler/ },
  {
    name: "throws-at-import",
    code: 'const settings = undefined;\nthrow new Error("no settings");\nexport const handler = 1;\n',
    says: /no settings/,
  },
  { name: "missing-module", code: 'import "not-there";\nexport const handler = () => 1;\n', says: /not-there/ },
];

describe("a deploy whose code does not start", () => {
  it.each(BROKEN)("$name: says why, the old version serves on, and the mended code answers", async (c) => {
    const dir = makeFolder();
    write(dir, good("first"));
    const first = await deployFolder(dir, c.name);
    expect(first).toMatchObject({ code: 0 });
    const url = first.stdout.trim();

    write(dir, c.code);
    const broken = await deployFolder(dir, c.name);
    expect(broken.code).toBe(1);
    expect(broken.stdout).toBe("");
    expect(broken.stderr).toMatch(c.says);
    expect(broken.stderr).toContain("Version 1 still serves.");
    expect(broken.stderr).not.toContain(platform.dataDir);

    const fn = await get(c.name);
    expect(condition(fn, "Serving")).toMatchObject({ status: "True" });
    expect(condition(fn, "Ready")).toMatchObject({ status: "False", reason: "LoadError" });
    expect(condition(fn, "Ready")?.message).toMatch(c.says);
    expect(fn.status.phase).toBe("Failed");
    expect((await call(url)).text).toBe("first");

    write(dir, good("mended"));
    expect(await deployFolder(dir, c.name)).toMatchObject({ code: 0 });
    expect((await call(url)).text).toBe("mended");
    expect(condition(await get(c.name), "Ready")).toMatchObject({ status: "True" });
  });

  it("says that the entrypoint's file is missing when it is the first version too", async () => {
    const dir = makeFolder();
    write(dir, good("x"));
    const missing = await platform.sless([
      ...["deploy", dir, "--name", "no-file", "--runtime", "nodejs20", "--entrypoint", "main.handler"],
    ]);
    expect(missing.code).toBe(1);
    expect(missing.stderr).toMatch(/main/);
    expect(missing.stderr).not.toContain("still serves");
    expect(condition(await get("no-file"), "Serving")).toMatchObject({ status: "False" });
    rmSync(dir, { recursive: true });
  });
});

describe("sless rollback", () => {
  it("C9: brings an older version back without a build, shows it, and the next code change clears the pin", async () => {
    const dir = makeFolder();
    const deployText = async (text: string) => {
      write(dir, good(text));
      const result = await deployFolder(dir, "rolled");
      expect(result).toMatchObject({ code: 0 });
      return result.stdout.trim();
    };
    const url = await deployText("v1");
    await deployText("v2");
    const builtAt = async () =>
      (await platform.tenant("developer").client.functions.versions("rolled")).map(({ build }) => build?.startedAt);
    const before = await builtAt();

    const back = await platform.sless(["rollback", "rolled", "--yes", "-m", "v2 is wrong"]);
    expect(back).toMatchObject({ code: 0, stdout: "rolled: v2 → v1\n" });
    expect(back.ms).toBeLessThan(3000);
    const texts = await Promise.all(Array.from({ length: 20 }, async () => (await call(url)).text));
    expect(new Set(texts)).toEqual(new Set(["v1"]));
    expect(await builtAt()).toEqual(before);

    const versions = await platform.sless(["versions", "rolled", "-o", "json"]);
    expect(JSON.parse(versions.stdout)).toMatchObject({
      items: [
        { version: 2, percent: 0 },
        { version: 1, percent: 100, pinned: { reason: "v2 is wrong" } },
      ],
    });
    expect((await platform.sless(["versions", "rolled"])).stdout).toContain("v2 is wrong");

    await deployText("v3");
    expect((await call(url)).text).toBe("v3");
    expect((await get("rolled")).traffic).toBeUndefined();
  });

  it("refuses a version that is not there, and names those that are", async () => {
    const missing = await platform.sless(["rollback", "rolled", "77", "--yes"]);
    expect(missing.code).toBe(1);
    expect(missing.stderr).toContain("77");
  });
});
