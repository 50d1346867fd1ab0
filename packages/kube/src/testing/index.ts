export { eventually } from "./eventually.js";
export { startFakeApiServer } from "./fake-api-server.js";
export type { FakeApiServer } from "./fake-api-server.js";
export { createFakeKubeClient } from "./fake-client.js";
export type { FakeKubeClient, FakeKubeClientOptions, RecordedWrite } from "./fake-client.js";
export type { FailureRule, FakeVerb } from "./fake-failures.js";
export { createMemoryLogger } from "./memory-logger.js";
export type { LogLine } from "./memory-logger.js";
