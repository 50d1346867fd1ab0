import { describe, expect, it } from "@jest/globals";
import jwt from "jsonwebtoken";
import { createCallerTokenReader } from "./caller-token.js";

const KEY = "a key of the tests, long enough";
const now = (): number => Math.floor(Date.now() / 1000);
const claims = (more: object = {}) => ({
  ...{ aud: "sless-gateway", sub: "alice", ns: "sless-0123456789abcdef", iat: now(), exp: now() + 30 },
  ...more,
});

describe("createCallerTokenReader", () => {
  const read = createCallerTokenReader(KEY);

  it("reads a token of the API", () => {
    expect(read(jwt.sign(claims(), KEY))).toMatchObject({ sub: "alice", ns: "sless-0123456789abcdef" });
  });

  it.each([
    ["no token", undefined],
    ["garbage", "a.b.c"],
    ["another key", jwt.sign(claims(), "another key")],
    ["another algorithm", jwt.sign(claims(), KEY, { algorithm: "HS512" })],
    ["no signature", jwt.sign(claims(), "", { algorithm: "none" })],
    ["another audience", jwt.sign(claims({ aud: "sless-api" }), KEY)],
    ["an expired token", jwt.sign(claims({ iat: now() - 60, exp: now() - 30 }), KEY)],
    ["a token without end", jwt.sign(JSON.parse(JSON.stringify(claims({ exp: undefined }))) as object, KEY)],
    ["a token that is good for a day", jwt.sign(claims({ exp: now() + 86_400 }), KEY)],
    ["no namespace", jwt.sign(JSON.parse(JSON.stringify(claims({ ns: undefined }))) as object, KEY)],
    ["no subject", jwt.sign(claims({ sub: "" }), KEY)],
  ])("refuses %s", (_name, token) => {
    expect(read(token)).toBeUndefined();
  });
});
