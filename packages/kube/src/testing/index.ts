export { createFakeKubeClient } from "./fake-client.js";
export type { FailureRule, FakeKubeClient, FakeKubeClientOptions, FakeVerb, RecordedWrite } from "./fake-client.js";
