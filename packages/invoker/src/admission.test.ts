import { describe, expect, it } from "@jest/globals";
import { Admission } from "./admission.js";

describe("Admission", () => {
  it("security 9: gives a tenant a quarter, so that a saturated one leaves room for the others", () => {
    const admission = new Admission(8);
    const refusals = Array.from({ length: 5 }, () => admission.enter("a")?.reason);
    expect(refusals).toEqual([undefined, undefined, "tenant-limit", "tenant-limit", "tenant-limit"]);
    expect(admission.enter("b")).toBeUndefined();
  });

  it("refuses all when the whole is full, by another reason", () => {
    const admission = new Admission(4);
    for (const tenant of ["a", "b", "c", "d"]) expect(admission.enter(tenant)).toBeUndefined();
    expect(admission.enter("e")).toMatchObject({ reason: "gateway-full", kind: "unavailable", retryAfterSec: 1 });
  });

  it("gives places back", () => {
    const admission = new Admission(4);
    admission.enter("a");
    admission.leave("a");
    expect([admission.enter("a"), admission.total]).toEqual([undefined, 1]);
  });
});
