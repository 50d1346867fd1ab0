import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../harness/eventually.js";
import { call } from "../harness/http.js";
import { startPlatform, type TestPlatform } from "../harness/platform.js";
import { EXAMPLES_DIR, SLESS_MAIN } from "../harness/sless.js";

let platform: TestPlatform;
let url: string;
beforeAll(async () => {
  platform = await startPlatform();
  const deployed = await platform.sless(["deploy", join(EXAMPLES_DIR, "hello-node")]);
  expect(deployed).toMatchObject({ code: 0 });
  url = deployed.stdout.trim();
});
afterAll(() => platform.stop());

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(platform.dataDir, "project-"));
});
const save = (name: string, text: string) => writeFileSync(join(dir, name), text);
const handler = (text: string) => `exports.handler = async () => ${text};\n`;

describe("sless deploy", () => {
  it("C1: prints steps with durations on stderr, and on stdout the URL alone, which answers", async () => {
    cpSync(join(EXAMPLES_DIR, "hello-node"), dir, { recursive: true });
    const { code, stdout, stderr } = await platform.sless(["deploy", dir, "--name", "fresh"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^http:\/\/fresh-[0-9a-f]{8}\.fn\.localhost:\d+\n$/);
    expect(stderr).toMatch(/✓ uploaded.*\(\d+ ms\)|✓ uploaded.*s\)/);
    expect(stderr).toMatch(/version 1/);
    expect((await call(stdout.trim())).status).toBe(200);
  });

  it("L5: uploads no .env and no secrets' files", async () => {
    save("index.js", `const { readdirSync } = require("node:fs"); ${handler("readdirSync(__dirname).join()")}`);
    for (const name of [".env", ".env.local", ".npmrc"]) save(name, "SECRET=1");
    save("id_rsa", "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n");
    const { stdout } = await platform.sless(["deploy", dir, "--name", "packed"]);
    expect((await call(stdout.trim())).text).toBe("index.js");
  });
});

describe("exit codes", () => {
  const rows: readonly (readonly [string, number, readonly string[]])[] = [
    ["an unknown function", 1, ["describe", "absent"]],
    ["an unknown command", 2, ["delpoy"]],
    ["a folder without a handler", 2, ["deploy", "/proc/self/fdinfo", "--name", "x"]],
    ["two functions of which one is missing", 1, ["delete", "absent", "absent-too", "--yes"]],
    ["a function that fails", 3, ["invoke", "failing"]],
    ["an endpoint without a login", 4, ["ls", "--endpoint", "http://127.0.0.1:9"]],
  ];
  it.each(rows)("C2: %s gives %i", async (_name, code, args) => {
    if (args[1] === "failing") {
      save("index.js", "exports.handler = async () => { throw new Error('no'); };\n");
      await platform.sless(["deploy", dir, "--name", "failing"]);
    }
    const result = await platform.sless(args);
    expect(result).toMatchObject({ code });
    expect(result.stderr).not.toBe("");
  });

  it("C2: are listed by the command itself", async () => {
    const { code, stdout } = await platform.sless(["exit-codes"]);
    expect(code).toBe(0);
    for (const number of [0, 1, 2, 3, 4, 5, 130]) expect(stdout).toMatch(new RegExp(`^ +${number} `, "m"));
  });

  it("C16: suggests the command that was meant", async () => {
    expect((await platform.sless(["delpoy"])).stderr).toContain("deploy");
  });
});

describe("output", () => {
  it("C3: is JSON, YAML, names or a filter's result, alone on stdout", async () => {
    const json = await platform.sless(["ls", "-o", "json"]);
    const { items } = JSON.parse(json.stdout) as { items: { name: string }[] };
    expect(items.map(({ name }) => name)).toContain("hello-node");
    expect((await platform.sless(["ls", "-o", "yaml"])).stdout).toMatch(/name: hello-node/);
    expect((await platform.sless(["ls", "-o", "name"])).stdout.split("\n")).toContain("hello-node");
    expect((await platform.sless(["ls"])).stdout).toMatch(/NAME.*\n/);
    expect(JSON.parse((await platform.sless(["describe", "hello-node", "-o", "json"])).stdout)).toMatchObject({
      name: "hello-node",
    });
  });

  it("C4: whoami names where the token came from; SLESS_TOKEN wins; the saved login is its owner's alone", async () => {
    const saved = await platform.sless(["whoami", "-o", "json"]);
    expect(JSON.parse(saved.stdout)).toMatchObject({
      subject: "developer",
      token_source: expect.stringContaining("local"),
    });
    const token = platform.mint({ subject: "by-variable" });
    const { stdout } = await platform.sless(["whoami", "-o", "json"], { env: { SLESS_TOKEN: token } });
    expect(JSON.parse(stdout)).toMatchObject({ subject: "by-variable", token_source: "SLESS_TOKEN" });
    expect(statSync(join(platform.dataDir, "config", "sless", "credentials.json")).mode & 0o777).toBe(0o600);
  });

  it("C4: login takes a token from stdin", async () => {
    const config = { XDG_CONFIG_HOME: join(dir, "config") };
    const login = await platform.sless(["login", "--endpoint", platform.endpoint, "--with-token"], {
      env: config,
      input: platform.mint({ subject: "by-stdin" }),
    });
    expect(login).toMatchObject({ code: 0 });
    const { stdout } = await platform.sless(["whoami", "-o", "json"], { env: config });
    expect(JSON.parse(stdout)).toMatchObject({ subject: "by-stdin" });
  });

  it("C16: the completion script loads in bash and completes commands and functions' names", () => {
    const script = `
      sless() { ${process.execPath} ${SLESS_MAIN} "$@"; }
      source <(sless completion bash)
      COMP_WORDS=(sless dep); COMP_CWORD=1; _sless; echo "\${COMPREPLY[@]}"
      COMP_WORDS=(sless logs hello-); COMP_CWORD=2; _sless; echo "\${COMPREPLY[@]}"`;
    const env = { PATH: process.env["PATH"], HOME: dir, XDG_CONFIG_HOME: join(platform.dataDir, "config") };
    const [commands, names] = execFileSync("bash", ["-c", script], { env, encoding: "utf8" }).split("\n");
    expect(commands).toBe("deploy");
    expect(names).toContain("hello-node");
  });
});

describe("C8: with stdin closed", () => {
  it.each([
    ["delete", "hello-node"],
    ["rollback", "hello-node"],
    ["ls"],
    ["invoke", "hello-node"],
    ["describe", "hello-node"],
    ["versions", "hello-node"],
    ["logs", "hello-node"],
    ["login", "--endpoint", "http://127.0.0.1:9"],
  ])("%s %s ends by itself, and names the flag where one is missing", async (...args) => {
    const running = platform.startSless(args);
    await eventually(`${args.join(" ")} ends`, 15_000, () => running.child.exitCode !== null);
    const { code, stderr } = await running.exited;
    if (code !== 0) expect(stderr).toMatch(/--\w+|standard input/);
  });
});

describe("sless logs", () => {
  it("C5: shows recent lines, the latest so many, and says which window was empty", async () => {
    for (const name of ["one", "two", "three"]) await call(`${url}/?name=${name}`);
    await eventually("the lines are there", 5000, async () =>
      (await platform.sless(["logs", "hello-node"])).stdout.includes("greeting three"),
    );
    const tail = await platform.sless(["logs", "hello-node", "--tail", "1"]);
    expect(tail.stdout.trim().split("\n")).toHaveLength(1);
    const lines = (await platform.sless(["logs", "hello-node", "-o", "json", "--since", "5m"])).stdout
      .trim()
      .split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual(
      expect.arrayContaining(["greeting one", "greeting two", "greeting three"]),
    );
    const searched = await platform.sless(["logs", "hello-node", "--search", "greeting two"]);
    expect(searched.stdout).not.toContain("greeting one");
    const future = await platform.sless(["logs", "hello-node", "--since", "1s", "--search", "nothing says this"]);
    expect(future.stderr).toContain("since 1s");
  });

  it("C6: -f survives an API that is killed: one warning, and no line twice or lost", async () => {
    const follow = platform.startSless(["logs", "hello-node", "-f", "--since", "1m"]);
    const say = async (name: string) => {
      await call(`${url}/?name=${name}`);
      await eventually(`the tail shows ${name}`, 20_000, () => follow.stdout().includes(`greeting ${name}\n`));
    };
    await say("before");
    process.kill(platform.pidOf("api") ?? 0, "SIGKILL");
    await eventually("the tail says that it lost the API", 10_000, () => follow.stderr().includes("lost"));
    await call(`${url}/?name=meanwhile`);
    await say("after");
    follow.child.kill("SIGINT");
    expect((await follow.exited).code).toBe(0);
    for (const name of ["before", "meanwhile", "after"])
      expect(follow.stdout().split(`greeting ${name}\n`)).toHaveLength(2);
    expect(follow.stderr().match(/lost/g)).toHaveLength(1);
  });
});

describe("sless dev", () => {
  it("L2, L5: answers anew at each save, survives a syntax error, and says which file gave each variable", async () => {
    save("index.js", handler("process.env.A + process.env.B + process.env.C"));
    save(".env", "A=env\nB=env\nC=env\n");
    save(".env.local", "B=local\nC=local\n");
    const dev = platform.startSless(["dev", dir, "--name", "watched", "--env", "C=flag"]);
    await eventually("it prints the URL", 30_000, () => dev.stdout().includes("http://"));
    const at = /http:\S+/.exec(dev.stdout())?.[0] ?? "";
    expect((await call(at)).text).toBe("envlocalflag");
    expect(dev.stderr()).toMatch(/A from \.env\n/);
    expect(dev.stderr()).toMatch(/B from \.env\.local\n/);
    expect(dev.stderr()).toMatch(/C from --env\n/);

    save("index.js", handler('"second"'));
    await eventually("the second answer", 15_000, async () => (await call(at)).text === "second");
    save("index.js", "exports.handler = async () => {\n  return (;\n");
    await eventually("the error with its line", 15_000, () => /index\.js:2/.test(dev.stderr()));
    expect((await call(at)).text).toBe("second");
    save("index.js", handler('"third"'));
    await eventually("the third answer", 15_000, async () => (await call(at)).text === "third");
    dev.child.kill("SIGINT");
    expect((await dev.exited).code).toBe(0);
  });
});
