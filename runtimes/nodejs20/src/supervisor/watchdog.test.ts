import { describe, expect, it } from "@jest/globals";
import { isStuck } from "./watchdog.js";

const NOW = 100_000;
const state = (overrides: Partial<Parameters<typeof isStuck>[0]>): Parameters<typeof isStuck>[0] => ({
  now: NOW,
  lastBeat: NOW - 100,
  deadlines: [],
  timeoutMs: 30_000,
  ...overrides,
});

describe("isStuck", () => {
  it.each([
    { name: "a turning loop answers its overruns itself", state: { deadlines: [NOW - 5_000] }, want: false },
    {
      name: "a silent loop is left alone while its calls are in time",
      state: { lastBeat: NOW - 9_000, deadlines: [NOW + 1] },
      want: false,
    },
    {
      name: "a silent loop with an overdue call is stuck",
      state: { lastBeat: NOW - 9_000, deadlines: [NOW + 1, NOW - 200] },
      want: true,
    },
    { name: "a short silence is none", state: { lastBeat: NOW - 500, deadlines: [NOW - 200] }, want: false },
    {
      name: "silence beyond every possible deadline is stuck without a call",
      state: { lastBeat: NOW - 31_500 },
      want: true,
    },
  ])("$name", (row) => expect(isStuck(state(row.state))).toBe(row.want));
});
