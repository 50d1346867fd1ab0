export { RUNTIME_ENTRYPOINT, runtimeDirectory } from "./runtime-directory.js";
