import { afterEach, describe, expect, it } from "@jest/globals";
import { GATEWAY_REPORTS, LABELS } from "@sless/contracts";
import type { VersionLoad } from "@sless/invoker";
import { leases } from "@sless/kube";
import { createFakeKubeClient, createMemoryLogger, eventually } from "@sless/kube/testing";
import { makeReportedVersions } from "./make-report.js";
import { startReporter, type Reporter } from "./reporter.js";

const identity = { namespace: "sless", name: "gateway-1" };
let reporter: Reporter | undefined;
afterEach(() => reporter?.stop());

const start = () => {
  const kube = createFakeKubeClient({ withoutStatusSubresource: ["GatewayReport"] });
  const loads: VersionLoad[] = [];
  const logger = createMemoryLogger();
  reporter = startReporter({ client: kube, identity, leaseSeconds: 15, loads: () => loads, logger });
  const report = () => kube.objects(GATEWAY_REPORTS)[0]?.status;
  return { kube, loads, logger, report, reporter };
};

describe("startReporter", () => {
  it("counts for nothing before the first state is applied", async () => {
    const { kube, report, reporter } = start();
    reporter.trafficChanged();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect([report(), kube.objects(leases)]).toEqual([undefined, []]);
  });

  it("acknowledges a change of traffic within 100 ms, though reports are written once a second", async () => {
    const { report, reporter } = start();
    reporter.observed("100");
    await eventually("the first report", () => report()?.observedResourceVersion === "100");
    const changed = performance.now();
    reporter.trafficChanged();
    reporter.observed("101");
    await eventually("the acknowledgement", () => report()?.observedResourceVersion === "101");
    expect(performance.now() - changed).toBeLessThan(500);
  });

  it("advances by bookmarks, and writes nothing when nothing changed", async () => {
    const { kube, report, reporter } = start();
    reporter.observed("100");
    await eventually("the first report", () => report() !== undefined);
    reporter.observed("150");
    await eventually("the bookmark", () => report()?.observedResourceVersion === "150");
    const writes = () => kube.writes.filter(({ kind }) => kind === "GatewayReport").length;
    const before = writes();
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect(writes()).toBe(before);
  });

  it("holds a Lease that names the gateway, and removes both on a clean exit", async () => {
    const { kube, reporter } = start();
    reporter.observed("100");
    await eventually("the lease", () => kube.objects(leases).length === 1);
    expect(kube.objects(leases)[0]).toMatchObject({
      metadata: { ...identity, labels: { [LABELS.component]: "gateway" } },
      spec: { holderIdentity: "gateway-1", leaseDurationSeconds: 15 },
    });
    await reporter.stop();
    expect([kube.objects(leases), kube.objects(GATEWAY_REPORTS)]).toEqual([[], []]);
  });

  it("tries again after a write that failed", async () => {
    const { kube, logger, report, reporter } = start();
    const heal = kube.failOn("apply", "GatewayReport");
    reporter.observed("100");
    await eventually("it was logged", () => logger.lines.some(({ message }) => message.startsWith("report")));
    heal();
    await eventually("it was written", () => report()?.observedResourceVersion === "100");
  });
});

describe("makeReportedVersions", () => {
  const load = (versionUid: string, lastCallTime?: number): VersionLoad => ({
    ...{ versionUid, inFlight: 1, queued: 0, lastCallTime },
  });

  it("names the versions called last when there are too many, in a fixed order", () => {
    const loads = Array.from({ length: 4001 }, (_, index) =>
      load(`uid-${String(index).padStart(4, "0")}`, index * 1000),
    );
    const versions = makeReportedVersions(loads);
    expect([versions.length, versions[0]?.uid, versions.at(-1)?.uid]).toEqual([4000, "uid-0001", "uid-4000"]);
  });

  it("leaves out the time of a version that was never called", () => {
    expect(makeReportedVersions([load("a")])).toEqual([{ uid: "a", inFlight: 1, queued: 0 }]);
  });
});
