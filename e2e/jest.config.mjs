import base from "../jest.config.mjs";

/** Stories from outside: one after the other, since each drives a whole platform. */
export default {
  ...base,
  rootDir: "..",
  roots: ["<rootDir>/e2e"],
  testTimeout: 120_000,
  maxWorkers: 1,
};
