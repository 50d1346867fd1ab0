import { describe, expect, it } from "@jest/globals";
import { faultOfDeath } from "./worker-death.js";
import type { WorkerDeath } from "./worker-death.js";

const death = (overrides: Partial<WorkerDeath>): WorkerDeath => ({
  code: null,
  signal: null,
  killedFor: undefined,
  aborted: false,
  tableComplete: true,
  memoryShare: 0.2,
  kernelOom: false,
  memoryMb: 128,
  at: 10_000,
  ...overrides,
});
const inTime = { started: 9_000, deadline: 12_000 };
const overdue = { started: 9_000, deadline: 9_900 };

describe("faultOfDeath", () => {
  it.each([
    { name: "an exit with 0 is a failure", of: { code: 0 }, call: inTime, want: /^exited: .*code 0/ },
    { name: "a signal is named", of: { signal: "SIGSEGV" }, call: inTime, want: /^exited: .*SIGSEGV/ },
    {
      name: "an abort of V8 with a full heap is out of memory",
      of: { signal: "SIGABRT", memoryShare: 0.8 },
      call: inTime,
      want: /^out-of-memory: .*128 MB/,
    },
    {
      name: "security 17: the function's own abort is an exit, whatever its memory",
      of: { signal: "SIGABRT", memoryShare: 0.8, aborted: true },
      call: inTime,
      want: /^exited: .*SIGABRT/,
    },
    { name: "an abort with little memory is an exit", of: { signal: "SIGABRT" }, call: inTime, want: /^exited/ },
    {
      name: "our own kill for memory",
      of: { signal: "SIGKILL", killedFor: "memory" },
      call: inTime,
      want: /^out-of-mem/,
    },
    {
      name: "the kernel's kill for memory",
      of: { signal: "SIGKILL", kernelOom: true },
      call: inTime,
      want: /^out-of-mem/,
    },
    { name: "a kill by the function itself", of: { signal: "SIGKILL" }, call: inTime, want: /^exited: .*SIGKILL/ },
    { name: "the overrun in a stuck worker", of: { killedFor: "stuck" }, call: overdue, want: /^timeout: .*900 ms/ },
    { name: "its neighbour", of: { killedFor: "stuck" }, call: inTime, want: /^exited: .*another call/ },
  ] as const)("$name", ({ of, call, want }) => {
    const { fault, message } = faultOfDeath(death(of), call);
    expect(`${fault}: ${message}`).toMatch(want);
  });
});
