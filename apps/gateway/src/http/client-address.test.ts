import type { IncomingMessage } from "node:http";
import { describe, expect, it } from "@jest/globals";
import { createClientAddressReader } from "./client-address.js";

const from = (remoteAddress: string, headers: Record<string, string> = {}): IncomingMessage =>
  ({ socket: { remoteAddress }, headers }) as unknown as IncomingMessage;
const chain = (text: string) => ({ "x-forwarded-for": text, "x-forwarded-proto": "https" });

describe("security 19: createClientAddressReader", () => {
  const read = createClientAddressReader(["10.0.0.0/8", "fd00::/8", "192.0.2.7"]);

  it("believes nobody by default", () => {
    const nobody = createClientAddressReader([]);
    expect(nobody(from("127.0.0.1", chain("1.2.3.4")))).toEqual({
      ip: "127.0.0.1",
      forwardedFor: "127.0.0.1",
      proto: "http",
    });
  });

  it.each([
    ["a stranger's header", "203.0.113.9", "1.2.3.4", "203.0.113.9"],
    ["a trusted proxy", "10.1.2.3", "1.2.3.4", "1.2.3.4"],
    ["a chain of trusted proxies", "10.1.2.3", "6.6.6.6, 1.2.3.4, 10.9.9.9", "1.2.3.4"],
    ["a chain that begins with garbage", "10.1.2.3", "<script>, 1.2.3.4", "1.2.3.4"],
    ["a chain that ends with garbage", "10.1.2.3", "1.2.3.4, unknown", "10.1.2.3"],
    ["a trusted proxy that names nobody", "192.0.2.7", "", "192.0.2.7"],
    ["an IPv4 peer of a dual-stack socket", "::ffff:10.1.2.3", "1.2.3.4", "1.2.3.4"],
    ["an IPv6 proxy", "fd00::1", "2001:db8::5", "2001:db8::5"],
  ])("reads %s", (_name, peer, header, ip) => {
    expect(read(from(peer, chain(header))).ip).toBe(ip);
  });

  it("tells functions the believed part of the chain alone", () => {
    expect(read(from("10.1.2.3", chain("6.6.6.6, 1.2.3.4, 10.9.9.9")))).toEqual({
      ...{ ip: "1.2.3.4", forwardedFor: "1.2.3.4, 10.9.9.9, 10.1.2.3", proto: "https" },
    });
  });

  it("refuses a range that is none, with an example", () => {
    expect(() => createClientAddressReader(["all"])).toThrow(/SLESS_TRUSTED_PROXIES: all .* Example: 10\.0\.0\.0\/8/);
  });
});
