import { describe, expect, it } from "@jest/globals";
import {
  artifactKey,
  defaultHost,
  digestOfArtifactKey,
  hostClaimName,
  isTenantNamespace,
  tenantHash,
  tenantNamespace,
  tenantOfWorkloadNamespace,
  versionName,
  workloadNamespace,
} from "./names.js";

const digest = "a".repeat(64);
const uid = "0b9d3c1e-5a55-4f3c-9d6e-2f1f6f0c7a11";
const tenant = "sless-0123456789abcdef";

describe("tenants", () => {
  it("hashes the claim alone for the first issuer and issuer + newline + claim for another", () => {
    // sha256 of "alice" and of "https://b\nalice", by sha256sum.
    expect(tenantHash({ issuer: "https://a", claim: "alice", secondary: false })).toBe(
      "2bd806c97f0e00af1a1fc3328fa763a9269723c8db8fac4f93af71db186d6e90",
    );
    expect(tenantHash({ issuer: "https://b", claim: "alice", secondary: true })).not.toBe(
      tenantHash({ issuer: "https://a", claim: "alice", secondary: false }),
    );
  });

  it("security 24: takes the claim byte for byte", () => {
    const hashes = ["alice", "Alice", "alice ", "ａlice"].map((claim) =>
      tenantHash({ issuer: "i", claim, secondary: false }),
    );
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  it("names both namespaces from the hash and finds the way back", () => {
    const namespace = tenantNamespace("0123456789abcdef".repeat(4));
    expect(namespace).toBe(tenant);
    expect(workloadNamespace(namespace)).toBe("sless-fn-sless-0123456789abcdef");
    expect(tenantOfWorkloadNamespace(workloadNamespace(namespace))).toBe(namespace);
  });

  it.each(["sless", "sless-fn-sless-0123456789abcdef", "sless-0123456789ABCDEF", "sless-0123", "kube-system", ""])(
    "security 7: %j is no tenant namespace",
    (name) => expect(isTenantNamespace(name)).toBe(false),
  );
});

describe("versions and hosts", () => {
  it("pads version numbers, so that names sort", () => {
    expect([7, 99_999, 100_000].map((version) => versionName("hello", version))).toEqual([
      "hello-00007",
      "hello-99999",
      "hello-100000",
    ]);
  });

  it("puts function and tenant into one label below the domain", () => {
    expect(defaultHost("hello", tenant, "fn.example.com")).toBe("hello-01234567.fn.example.com");
    expect(defaultHost("hello", tenant, "fn.example.com", "beta")).toBe("beta--hello-01234567.fn.example.com");
  });

  it("keeps the longest derived label within DNS's 63 characters but for long tags", () => {
    const [label = ""] = defaultHost("f".repeat(40), tenant, "fn.example.com").split(".");
    expect(label.length).toBeLessThanOrEqual(63);
  });

  it("gives one host one claim", () => {
    expect(hostClaimName("a.example.com")).toBe(hostClaimName("a.example.com"));
    expect(hostClaimName("a.example.com")).not.toBe(hostClaimName("b.example.com"));
  });
});

describe("artifact keys", () => {
  it("reads back the digest of the key that it makes", () => {
    expect(digestOfArtifactKey(artifactKey(tenant, uid, digest), tenant, uid)).toBe(digest);
  });

  it.each([
    ["another tenant's", `sless-ffffffffffffffff/${uid}/${digest}.tar.gz`],
    ["another function's", `${tenant}/11111111-1111-4111-8111-111111111111/${digest}.tar.gz`],
    ["a climbing", `${tenant}/${uid}/../${uid}/${digest}.tar.gz`],
    ["a URL's", `https://s3.example.com/${tenant}/${uid}/${digest}.tar.gz`],
    ["a bare", `${tenant}/${uid}/${digest}`],
    ["a doubly suffixed", `${tenant}/${uid}/${digest}.tar.gz.tar.gz`],
    ["an empty", ""],
  ])("security 3: refuses %s key", (_, key) => expect(digestOfArtifactKey(key, tenant, uid)).toBeUndefined());

  it("makes no key of unchecked parts", () => {
    expect(() => artifactKey("../x", uid, digest)).toThrow(RangeError);
    expect(() => artifactKey(tenant, "../../etc", digest)).toThrow(RangeError);
    expect(() => artifactKey(tenant, uid, "latest")).toThrow(RangeError);
  });
});
