import { describe, expect, it } from "@jest/globals";
import { LABELS } from "@sless/contracts";
import { addressesOf, versionUidOf, type EndpointSlice } from "./endpoint-slice.js";

const slice = (endpoints: NonNullable<EndpointSlice["endpoints"]>): EndpointSlice => ({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: { name: "hello-abc", namespace: "ns", labels: { [LABELS.versionUid]: "uid-1" } },
  ports: [
    { name: "control", port: 9081 },
    { name: "call", port: 9080 },
  ],
  endpoints,
});
const pod = (uid: string) => ({ addresses: ["10.0.0.1"], targetRef: { kind: "Pod", uid } });

describe("addressesOf", () => {
  it("reads address, pod, the call port and what is said of readiness", () => {
    const read = addressesOf(
      slice([
        { ...pod("a"), conditions: { ready: true } },
        { ...pod("b"), conditions: { ready: false } },
        { ...pod("c"), conditions: { ready: false, serving: true, terminating: true } },
        { ...pod("d"), conditions: { ready: null } },
      ]),
    );
    expect(read.map(({ podUid, port, ready, terminating }) => [podUid, port, ready, terminating])).toEqual([
      ["a", 9080, true, false],
      ["b", 9080, false, false],
      ["c", 9080, false, true],
      ["d", 9080, true, false],
    ]);
  });

  it("security 18: skips an address that no pod is named for", () => {
    expect(addressesOf(slice([{ addresses: ["10.0.0.1"] }]))).toEqual([]);
  });

  it("knows the version by its label", () => {
    expect(versionUidOf(slice([]))).toBe("uid-1");
  });
});
