import { afterEach, beforeEach, expect, it } from "@jest/globals";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readCredentials, writeCredentials } from "./credentials.js";
import { saveLocalLogin } from "./local-login.js";

let dir: string;
let file: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "sless-login-"));
  file = join(dir, "credentials.json");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const first = { endpoint: "http://127.0.0.1:8470", tokenFile: "/first/token" };
const second = { endpoint: "http://127.0.0.1:9000", tokenFile: "/second/token" };
const prod = { endpoint: "https://api.example.com", token: "t" };

it("keeps the login of the only platform, so that the commands can say how to start it again", () => {
  saveLocalLogin(file, first)();
  expect(readCredentials(file)).toEqual({ current: "local", logins: { local: first } });
});

it("gives the place back to the platform that had it", () => {
  saveLocalLogin(file, first);
  const restore = saveLocalLogin(file, second);
  expect(readCredentials(file).logins["local"]).toEqual(second);
  restore();
  expect(readCredentials(file)).toEqual({ current: "local", logins: { local: first } });
});

it("leaves alone what somebody has chosen meanwhile", () => {
  saveLocalLogin(file, first);
  const restore = saveLocalLogin(file, second);
  writeCredentials(file, { current: "prod", logins: { ...readCredentials(file).logins, prod } });
  restore();
  expect(readCredentials(file)).toEqual({ current: "prod", logins: { local: first, prod } });
});
