import { describe, expect, it } from "@jest/globals";
import { aCondition } from "@sless/testing";
import { fails, holds, makeConditions, problem } from "./condition-set.js";
import { summarize } from "./phases.js";
import { boundedText } from "./text.js";
import { eventsOfTransitions } from "./transitions.js";

const at = (time: string, generation = 1) => ({ time, generation });

describe("makeConditions", () => {
  const first = makeConditions("Trigger", [], { Ready: fails(problem("HostConflict", "x")) }, at("T1"));

  it("moves lastTransitionTime only when the status changes", () => {
    const other = makeConditions("Trigger", first, { Ready: fails(problem("Disabled", "y")) }, at("T2"));
    expect(other).toMatchObject([{ reason: "Disabled", lastTransitionTime: "T1" }]);
    const good = makeConditions("Trigger", other, { Ready: holds("Ready") }, at("T3"));
    expect(good).toMatchObject([{ status: "True", lastTransitionTime: "T3" }]);
  });

  it("keeps the very condition when it says the same, so that nothing is written", () => {
    const same = makeConditions("Trigger", first, { Ready: fails(problem("HostConflict", "x")) }, at("T2"));
    expect(same[0]).toBe(first[0]);
  });

  it("says for which generation it holds, in the kind's order, without foreign types", () => {
    const foreign = [...first, aCondition("Odd", "True", "Ready")];
    const verdicts = { Accepted: holds("Accepted"), Ready: fails(problem("HostConflict", "x")) };
    const conditions = makeConditions("Trigger", foreign, verdicts, at("T2", 2));
    expect(conditions.map(({ type, observedGeneration }) => [type, observedGeneration])).toEqual([
      ["Accepted", 2],
      ["Ready", 2],
    ]);
  });
});

describe("summarize", () => {
  it.each([
    ["True", "Ready", "Ready"],
    ["False", "Building", "Building"],
    ["False", "Starting", "Building"],
    ["False", "MovingTraffic", "Pending"],
    ["False", "QuotaSurge", "Pending"],
    ["False", "LoadError", "Failed"],
    ["False", "QuotaExceeded", "Failed"],
    ["False", "InternalError", "Pending"],
  ] as const)("of a Function %s/%s is %s", (status, reason, phase) => {
    expect(summarize("Function", [aCondition("Ready", status, reason, "why")])).toEqual({ phase, message: "why" });
  });

  it("has a phase for an object without conditions", () => {
    expect(summarize("FunctionVersion", [])).toEqual({ phase: "Pending", message: "" });
  });
});

describe("eventsOfTransitions", () => {
  it("tells of a new reason and not of a new message", () => {
    const before = [aCondition("Ready", "False", "CrashLoop", "1 restart")];
    expect(eventsOfTransitions(before, [aCondition("Ready", "False", "CrashLoop", "2 restarts")])).toEqual([]);
    expect(eventsOfTransitions(before, [aCondition("Ready", "False", "LoadError", "no export")])).toEqual([
      { type: "Warning", reason: "LoadError", message: "Ready: no export" },
    ]);
    expect(eventsOfTransitions(before, [aCondition("Ready", "True", "Ready")])).toMatchObject([{ type: "Normal" }]);
  });
});

describe("security 17: boundedText", () => {
  it("drops control characters and escapes, and cuts without half a character", () => {
    expect(boundedText("a\u001b[31mred\u0000\r\n")).toBe("a [31mred");
    expect(boundedText("ab\u{1f389}cd", 4)).toBe("ab…");
    expect(boundedText("x\ud800y")).toBe("x\ufffdy");
  });
});
