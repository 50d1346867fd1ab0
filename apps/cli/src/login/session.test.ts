import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UserError } from "../errors.js";
import { readCredentials, writeCredentials } from "./credentials.js";
import { openSession } from "./session.js";

let dir: string;
let credentialsFile: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "sless-login-"));
  credentialsFile = join(dir, "deep", "credentials.json");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const exitOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof UserError) return error.exit;
    throw error;
  }
  return "none";
};

const save = () =>
  writeCredentials(credentialsFile, {
    current: "prod",
    logins: {
      prod: { endpoint: "https://api.example.com", token: "prod-token" },
      local: { endpoint: "http://127.0.0.1:8470", tokenFile: join(dir, "token") },
    },
  });

describe("credentials", () => {
  it("C4: are kept for their owner alone", () => {
    save();
    expect(statSync(credentialsFile).mode & 0o777).toBe(0o600);
    expect(statSync(join(dir, "deep")).mode & 0o777).toBe(0o700);
    expect(Object.keys(readCredentials(credentialsFile).logins)).toEqual(["prod", "local"]);
  });

  it("that are damaged are refused, not replaced", () => {
    save();
    writeFileSync(credentialsFile, '{"logins":');
    expect(() => readCredentials(credentialsFile)).toThrow(/damaged/);
  });
});

describe("openSession", () => {
  it("takes the current login", () => {
    save();
    const session = openSession({ env: {}, credentialsFile });
    expect([session.endpoint, session.token()]).toEqual(["https://api.example.com", "prod-token"]);
    expect(session.tokenSource).toContain('login "prod"');
  });

  it("reads a token file anew each time, since it is refreshed", () => {
    save();
    writeFileSync(join(dir, "token"), "first\n");
    const { token } = openSession({ endpoint: "http://127.0.0.1:8470/", env: {}, credentialsFile });
    expect(token()).toBe("first");
    writeFileSync(join(dir, "token"), "second\n");
    expect(token()).toBe("second");
  });

  it("C4: lets SLESS_TOKEN win, and the flag win over SLESS_ENDPOINT", () => {
    save();
    const env = { SLESS_TOKEN: "from-env", SLESS_ENDPOINT: "https://other.example.com" };
    expect(openSession({ env, credentialsFile })).toMatchObject({
      endpoint: "https://other.example.com",
      tokenSource: "SLESS_TOKEN",
    });
    expect(openSession({ endpoint: "https://flag.example.com", env, credentialsFile }).endpoint).toBe(
      "https://flag.example.com",
    );
  });

  it("security 27: sends a saved token to its own origin alone", () => {
    save();
    for (const endpoint of [
      "https://evil.example.com",
      "https://api.example.com:8443",
      "https://api.example.com.evil.net",
    ]) {
      expect(exitOf(() => openSession({ endpoint, env: {}, credentialsFile }))).toBe("loginNeeded");
    }
  });

  it("says how to log in when nothing is known", () => {
    expect(() => openSession({ env: {}, credentialsFile })).toThrow(/sless up/);
    expect(exitOf(() => openSession({ env: {}, credentialsFile }))).toBe("loginNeeded");
  });

  it("refuses what is no URL", () => {
    expect(exitOf(() => openSession({ endpoint: "api.example.com", env: {}, credentialsFile }))).toBe("usage");
  });
});

it("C4: of two logins for one API the current one is used, not an older copy of its token", () => {
  const endpoint = "http://127.0.0.1:8470";
  writeCredentials(credentialsFile, {
    current: "local",
    logins: { older: { endpoint, token: "old" }, local: { endpoint, token: "new" } },
  });
  expect(openSession({ env: {}, credentialsFile }).token()).toBe("new");
});
