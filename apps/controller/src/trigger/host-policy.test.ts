import { describe, expect, it } from "@jest/globals";
import { TENANT_NAMESPACE } from "@sless/testing";
import { decideHost } from "./host-policy.js";

const rules = { functionsDomain: "fn.example.com", reservedHosts: ["api.example.com", "Console.Example.com."] };
const wish = { functionName: "hello", tenant: TENANT_NAMESPACE, tenantHosts: ["shop.example.org", "example.com"] };

describe("security 1: decideHost", () => {
  it.each<[string | undefined, string]>([
    [undefined, "hello-01234567.fn.example.com"],
    ["other-01234567.fn.example.com", "other-01234567.fn.example.com"],
    ["OTHER-01234567.FN.example.com.", "other-01234567.fn.example.com"],
    ["shop.example.org", "shop.example.org"],
    ["www.shop.example.org", "www.shop.example.org"],
    ["магазин.shop.example.org", "xn--80aaak8anc8b.shop.example.org"],
  ])("gives %s", (host, canonical) => {
    const decided = decideHost({ ...wish, host }, rules);
    if (canonical.startsWith("xn--"))
      expect(decided).toMatchObject({ host: expect.stringMatching(/^xn--[a-z0-9]+\.shop/) });
    else expect(decided).toEqual({ host: canonical });
  });

  it.each<[string, string]>([
    ["api.example.com", "HostReserved"],
    ["API.example.com.", "HostReserved"],
    ["api.example.com:443", "HostReserved"],
    ["v2.api.example.com", "HostReserved"],
    ["console.example.com", "HostReserved"],
    ["fn.example.com", "HostNotAllowed"],
    ["hello-fedcba98.fn.example.com", "HostNotAllowed"],
    ["beta--hello-01234567.fn.example.com", "HostNotAllowed"],
    ["a.hello-01234567.fn.example.com", "HostNotAllowed"],
    ["shop.example.net", "HostNotAllowed"],
    ["notshop.example.org", "HostNotAllowed"],
    ["*.shop.example.org", "HostInvalid"],
    ["shop.example.org/x", "HostInvalid"],
    ["10.0.0.1", "HostInvalid"],
    ["a b.example.org", "HostInvalid"],
    ["", "HostInvalid"],
  ])("refuses %j as %s", (host, reason) => {
    expect(decideHost({ ...wish, host }, rules)).toMatchObject({ reason });
  });
});
