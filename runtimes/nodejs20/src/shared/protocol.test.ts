import { describe, expect, it } from "@jest/globals";
import { HEADERS, PLATFORM_HEADER_PREFIX as CONTRACT_PREFIX, RUNTIME_FAULTS } from "@sless/contracts";
import { FAULT_STATUS, HEADER_FAULT, HEADER_RUN_MS, HEADER_VERSION_UID, PLATFORM_HEADER_PREFIX } from "./protocol.js";

// The runtime is bundled without the contracts, so that an image holds no more than it needs.
describe("the protocol, as the runtime repeats it", () => {
  it("has the contracts' faults and their status", () => {
    const contract = Object.entries(RUNTIME_FAULTS).map(([fault, { status }]) => [fault, status]);
    expect(Object.entries(FAULT_STATUS)).toEqual(contract);
  });

  it("has the contracts' header names", () => {
    expect([HEADER_FAULT, HEADER_RUN_MS, HEADER_VERSION_UID, PLATFORM_HEADER_PREFIX]).toEqual([
      HEADERS.fault,
      HEADERS.runMs,
      HEADERS.versionUid,
      CONTRACT_PREFIX,
    ]);
  });
});
