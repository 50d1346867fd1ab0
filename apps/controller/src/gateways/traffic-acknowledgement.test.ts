import { describe, expect, it } from "@jest/globals";
import type { GatewayReport } from "@sless/contracts";
import { microTime, type Lease } from "@sless/kube";
import { laggards, liveGateways } from "./live-gateways.js";
import { createTrafficAcknowledgements } from "./traffic-acknowledgement.js";

const now = Date.parse("2030-01-01T00:00:00Z");
const lease = (name: string, renewedAgoMs: number, holderIdentity = name): Lease => ({
  metadata: { name },
  spec: { holderIdentity, leaseDurationSeconds: 15, renewTime: microTime(now - renewedAgoMs) },
});
const report = (name: string, observedResourceVersion: string): GatewayReport => ({
  apiVersion: "sless.kube5s.ru/v1alpha1",
  kind: "GatewayReport",
  metadata: { name },
  status: { observedResourceVersion, renewTime: microTime(now), versions: [] },
});

describe("liveGateways", () => {
  it("counts those whose lease stands, and says when it lapses", () => {
    const leases = [lease("a", 1000), lease("lapsed", 15_000), lease("released", 0, "")];
    const reports = [report("a", "7"), report("lapsed", "1"), report("released", "1")];
    expect(liveGateways(leases, reports, now)).toEqual([{ name: "a", observed: 7n, livesUntil: now + 14_000 }]);
  });

  it("takes one without a report, or with an odd one, as having applied nothing", () => {
    const gateways = liveGateways([lease("a", 0), lease("b", 0)], [report("b", "1e9")], now);
    expect(laggards(gateways, "1").map(({ name }) => name)).toEqual(["a", "b"]);
  });

  it("compares resource versions as numbers beyond what a double holds", () => {
    const gateways = liveGateways([lease("a", 0)], [report("a", "9007199254740992")], now);
    expect(laggards(gateways, "9007199254740993")).toHaveLength(1);
    expect(laggards(gateways, "9007199254740992")).toHaveLength(0);
    expect(laggards(liveGateways([lease("a", 0)], [report("a", "10")], now), "9")).toHaveLength(0);
  });
});

describe("createTrafficAcknowledgements", () => {
  const gateway = (observed: bigint) => [{ name: "a", observed, livesUntil: now + 5000 }];

  it("awaits the resource version of the write, not of later writes to the status", () => {
    const moves = createTrafficAcknowledgements();
    moves.moved("uid", "ns/hello", { traffic: "T2", resourceVersion: "10" });
    const seen = { traffic: "T2", resourceVersion: "12" };
    expect(moves.check("uid", "ns/hello", { ...seen, gateways: gateway(9n) })).toEqual({
      acknowledged: false,
      awaited: ["a"],
      recheckAt: now + 5000,
    });
    expect(moves.awaiting()).toEqual(["ns/hello"]);
    expect(moves.check("uid", "ns/hello", { ...seen, gateways: gateway(10n) }).acknowledged).toBe(true);
    expect(moves.awaiting()).toEqual([]);
  });

  it("stays acknowledged when a gateway comes later", () => {
    const moves = createTrafficAcknowledgements();
    moves.moved("uid", "k", { traffic: "T", resourceVersion: "10" });
    moves.check("uid", "k", { traffic: "T", resourceVersion: "10", gateways: [] });
    expect(moves.check("uid", "k", { traffic: "T", resourceVersion: "10", gateways: gateway(1n) }).acknowledged).toBe(
      true,
    );
  });

  it("without memory awaits what the Function has when it is first seen", () => {
    const moves = createTrafficAcknowledgements();
    const seen = { traffic: "T", resourceVersion: "20" };
    expect(moves.check("uid", "k", { ...seen, gateways: gateway(19n) }).acknowledged).toBe(false);
    const later = { ...seen, resourceVersion: "30" };
    expect(moves.check("uid", "k", { ...later, gateways: gateway(20n) }).acknowledged).toBe(true);
  });
});
