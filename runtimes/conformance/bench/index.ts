export { compare, type Comparison } from "./compare.js";
export { MeasuredServer, runtimeEnvironment } from "./measured-server.js";
