import { beforeEach, describe, expect, it } from "@jest/globals";
import { aFunction, aTrigger, TENANT_NAMESPACE } from "@sless/testing";
import { targetOf } from "../testing/gateway-fixture.js";
import { selectFunction, selectTrigger } from "./routes.js";
import { RoutingTable } from "./routing-table.js";

const OTHER_TENANT = "sless-fedcba9876543210";
const HOST = "hello.fn.test";
const UID = "00000001";

let table: RoutingTable;
beforeEach(() => {
  table = new RoutingTable();
});

interface Given {
  name?: string;
  tenant?: string;
  host?: string;
  path?: string;
  functionName?: string;
  created?: string;
  enabled?: boolean;
  phase?: "Active" | "Pending";
}

const trigger = ({ name = "web", tenant = TENANT_NAMESPACE, host = HOST, path = "/", ...given }: Given = {}): void =>
  table.setTrigger(
    `${tenant}/${name}`,
    selectTrigger(
      aTrigger({
        metadata: { name, namespace: tenant, creationTimestamp: given.created ?? "2030-01-01T00:00:00Z" },
        spec: {
          functionRef: { name: given.functionName ?? "hello" },
          enabled: given.enabled ?? true,
          http: { path, methods: [] },
        },
        status: { phase: given.phase ?? "Active", observedGeneration: 1, host },
      }),
    ),
  );

const fn = (name = "hello", tags: string[] = [], tenant = TENANT_NAMESPACE): void => {
  const traffic = [
    targetOf(1, UID),
    ...tags.map((tag, index) => targetOf(index + 2, `0000000${index + 2}`, { percent: 0, tag })),
  ];
  table.setFunction(
    `${tenant}/${name}`,
    selectFunction(aFunction({ metadata: { name, namespace: tenant }, status: { traffic } })),
  );
};

const triggerAt = (path: string, host = HOST): string | undefined => table.match(host, path)?.trigger;

describe("RoutingTable", () => {
  it("takes the longest prefix by whole segments", () => {
    fn();
    trigger({ name: "all" });
    trigger({ name: "api", path: "/api" });
    trigger({ name: "users", path: "/api/users/" });
    const paths = ["/", "/apix", "/api", "/api/", "/api/x", "/api/users", "/api/users/7", "/api/usersx"];
    expect(paths.map((path) => triggerAt(path))).toEqual(["all", "all", "api", "api", "api", "users", "users", "api"]);
  });

  it("takes a Trigger as kubectl writes it, without the fields that have a default", () => {
    fn();
    const spec = { functionRef: { name: "hello" }, type: "http", http: {} } as never;
    const sparse = aTrigger({ status: { host: HOST } });
    table.setTrigger(`${TENANT_NAMESPACE}/sparse`, selectTrigger({ ...sparse, spec }));
    expect(table.match(HOST, "/any")).toMatchObject({ prefix: "", methods: undefined });
  });

  it("R13: compares paths undecoded", () => {
    fn();
    trigger({ path: "/api" });
    expect([triggerAt("/api%2Fx"), triggerAt("/%61pi"), triggerAt("/api/a%2Fb")]).toEqual([
      undefined,
      undefined,
      "web",
    ]);
  });

  it.each(["HELLO.fn.test", "hello.fn.test.", "hello.fn.test:8443", "Hello.FN.test.:80"])(
    "knows the host as %s",
    (host) => {
      fn();
      trigger();
      expect(triggerAt("/", host)).toBe("web");
    },
  );

  it("leads nowhere from other hosts", () => {
    fn();
    trigger();
    for (const host of ["", "fn.test", "x.hello.fn.test", "10.0.0.1", "hello.fn.test@evil", "beta--hello.fn.test"]) {
      expect(triggerAt("/", host)).toBeUndefined();
    }
  });

  it("gives each traffic tag a host of its own, as long as it is there", () => {
    trigger();
    fn("hello", ["beta"]);
    expect(table.match("beta--hello.fn.test", "/")).toMatchObject({ tag: "beta", trigger: "web" });
    fn("hello", ["gamma"]);
    expect([triggerAt("/", "beta--hello.fn.test"), triggerAt("/", "gamma--hello.fn.test")]).toEqual([undefined, "web"]);
  });

  it("security 1: a host that somebody holds goes before a tag's host of the same name", () => {
    fn("hello", ["beta"]);
    trigger();
    fn("theirs", [], OTHER_TENANT);
    trigger({ name: "theirs", tenant: OTHER_TENANT, host: `beta--${HOST}`, functionName: "theirs" });
    expect(triggerAt("/", `beta--${HOST}`)).toBe("theirs");
  });

  it("security 1: a host belongs to one tenant wholly, the older claim", () => {
    fn();
    fn("hello", [], OTHER_TENANT);
    trigger({ name: "young", tenant: OTHER_TENANT, path: "/deep", created: "2031-01-01T00:00:00Z" });
    trigger({ name: "old" });
    expect([triggerAt("/"), triggerAt("/deep")]).toEqual(["old", "old"]);
  });

  it("security 1: a trigger reaches functions of its own tenant alone", () => {
    fn("hello", [], OTHER_TENANT);
    trigger();
    expect(triggerAt("/")).toBeUndefined();
  });

  it("follows its function whichever came first, and forgets what is deleted", () => {
    trigger();
    expect(triggerAt("/")).toBeUndefined();
    fn();
    expect(triggerAt("/")).toBe("web");
    table.setFunction(`${TENANT_NAMESPACE}/hello`, undefined);
    expect([triggerAt("/"), table.hostCount]).toEqual([undefined, 0]);
    fn();
    table.setTrigger(`${TENANT_NAMESPACE}/web`, undefined);
    expect([triggerAt("/"), table.hostCount]).toEqual([undefined, 0]);
  });

  it("moves a trigger from host to host", () => {
    fn();
    trigger();
    trigger({ host: "other.fn.test" });
    expect([triggerAt("/"), triggerAt("/", "other.fn.test")]).toEqual([undefined, "web"]);
  });

  it("takes no call for a trigger that is disabled", () => {
    fn();
    trigger();
    trigger({ enabled: false });
    expect(triggerAt("/")).toBeUndefined();
  });

  it("keeps the host of a trigger whose function does not answer for a moment: that is 503 and not 404", () => {
    fn();
    trigger();
    trigger({ phase: "Pending" });
    expect(triggerAt("/")).toBe("web");
  });

  it("takes no call for a trigger that is being deleted or has no host", () => {
    const active = { phase: "Active", observedGeneration: 1 } as const;
    const deleted = { metadata: { deletionTimestamp: "2030-01-01T00:00:00Z" }, status: { ...active, host: HOST } };
    expect([selectTrigger(aTrigger(deleted)), selectTrigger(aTrigger({ status: active }))]).toEqual([
      undefined,
      undefined,
    ]);
  });
});
