import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { MeasuredServer } from "./measured-server.js";

const SERVERS = join(import.meta.dirname, "servers");
const SUPERVISOR = join(import.meta.dirname, "..", "dist", "supervisor.js");

/** This runtime with the hello function. */
export const startRuntime = (): Promise<MeasuredServer> =>
  MeasuredServer.start([SUPERVISOR], (port, secondPort) => ({
    SLESS_HOST: "127.0.0.1",
    SLESS_PORT: String(port),
    SLESS_CONTROL_PORT: String(secondPort),
    SLESS_ENTRYPOINT: "hello.handler",
    SLESS_CODE_DIR: SERVERS,
    SLESS_CONCURRENCY: "100",
    SLESS_VERSION_UID: "bench",
    SLESS_TERMINATION_LOG: "/dev/null",
  }));

/** node:http with a handler that answers the same. */
export const startBareHttp = (): Promise<MeasuredServer> =>
  MeasuredServer.start([join(SERVERS, "bare-http.mjs")], () => ({}));

/** @google-cloud/functions-framework with the same answer. */
export const startFunctionsFramework = (): Promise<MeasuredServer> => {
  const main = createRequire(import.meta.url).resolve("@google-cloud/functions-framework");
  const source = join(SERVERS, "hello.mjs");
  const parameters = [join(dirname(main), "main.js"), `--source=${source}`, "--target=framework"];
  return MeasuredServer.start(parameters, () => ({ FUNCTION_SIGNATURE_TYPE: "http" }));
};
