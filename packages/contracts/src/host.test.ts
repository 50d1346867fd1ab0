import { describe, expect, it } from "@jest/globals";
import { canonicalHost, isWithinDomain } from "./host.js";

describe("canonicalHost", () => {
  it.each([
    ["API.Example.com", "api.example.com"],
    ["api.example.com.", "api.example.com"],
    ["api.example.com:8443", "api.example.com"],
    ["API.EXAMPLE.COM.:443", "api.example.com"],
    ["bücher.example", "xn--bcher-kva.example"],
    ["ＡＰＩ.example.com", "api.example.com"],
    ["localhost", "localhost"],
  ])("security 1: %j is %j", (raw, canonical) => expect(canonicalHost(raw)).toBe(canonical));

  it.each([
    "",
    ".",
    "..",
    "a..b",
    "*.example.com",
    "-a.example.com",
    "a_b.example.com",
    "user@example.com",
    "a b.example.com",
    "example.com/path",
    "example.com#x",
    "exa%6dple.com",
    "127.0.0.1",
    "0x7f.1",
    "[::1]",
    "a.example.com:999999",
    `${"a".repeat(64)}.example.com`,
    `${"a.".repeat(200)}com`,
    "a\u0000b.example.com",
    "a\nb.example.com",
  ])("security 1: %j is no host", (raw) => expect(canonicalHost(raw)).toBeUndefined());
});

describe("isWithinDomain", () => {
  it.each([
    ["example.com", true],
    ["a.example.com", true],
    ["a.b.example.com", true],
    ["badexample.com", false],
    ["example.com.evil.net", false],
  ])("%j below example.com: %j", (host, within) => expect(isWithinDomain(host, "example.com")).toBe(within));
});
