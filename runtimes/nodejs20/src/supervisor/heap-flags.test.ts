import { expect, it } from "@jest/globals";
import { makeHeapFlags } from "./heap-flags.js";

it.each([
  [64, 51, 2, 8],
  [128, 102, 4, 8],
  [512, 409, 16, 16],
  [8192, 6553, 16, 16],
])("gives %d MB to old space %d and semi-space %d to %d", (memory, oldSpace, smallest, largest) => {
  expect(makeHeapFlags(memory)).toEqual([
    `--max-old-space-size=${String(oldSpace)}`,
    `--min-semi-space-size=${String(smallest)}`,
    `--max-semi-space-size=${String(largest)}`,
  ]);
});
