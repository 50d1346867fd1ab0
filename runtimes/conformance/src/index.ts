export { describeConformance } from "./describe-conformance.js";
export { startPod } from "./pod.js";
export { ConnectionLost, WireConnection } from "./wire-connection.js";
export type { CaseGroup, ConformanceCase } from "./conformance-case.js";
export type { TestFramework } from "./describe-conformance.js";
export type { CallOptions, LogLine, Pod, PodSettings, RuntimeUnderTest } from "./pod.js";
export type { Reply } from "./wire-connection.js";
