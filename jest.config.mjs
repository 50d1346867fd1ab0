/** Unit tests of every package: TypeScript through swc, as native ES modules, each package read from its source. */
export default {
  roots: ["<rootDir>/apps", "<rootDir>/packages", "<rootDir>/runtimes"],
  testMatch: ["**/src/**/*.test.ts"],
  testEnvironment: "node",
  testEnvironmentOptions: { customExportConditions: ["@sless/source", "node", "node-addons"] },
  extensionsToTreatAsEsm: [".ts"],
  moduleNameMapper: { "^(\\.{1,2}/.*)\\.js$": "$1" },
  transform: {
    "^.+\\.ts$": [
      "@swc/jest",
      { jsc: { target: "es2022", parser: { syntax: "typescript" } }, module: { type: "es6" } },
    ],
  },
  modulePathIgnorePatterns: ["/dist/"],
  testTimeout: 20_000,
};
