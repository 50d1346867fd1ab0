import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { MeasuredServer, runtimeEnvironment } from "@sless/runtime-conformance/bench";

const SERVERS = join(import.meta.dirname, "servers");
const SUPERVISOR = join(import.meta.dirname, "..", "dist", "supervisor.js");

/** This runtime with the hello function. */
export const startRuntime = (): Promise<MeasuredServer> =>
  MeasuredServer.start([process.execPath, SUPERVISOR], (...ports) => runtimeEnvironment(SERVERS, ...ports));

/** node:http with a handler that answers the same. */
export const startBareHttp = (): Promise<MeasuredServer> =>
  MeasuredServer.start([process.execPath, join(SERVERS, "bare-http.mjs")], () => ({}));

/** @google-cloud/functions-framework with the same answer. */
export const startFunctionsFramework = (): Promise<MeasuredServer> => {
  const main = createRequire(import.meta.url).resolve("@google-cloud/functions-framework");
  const source = join(SERVERS, "hello.mjs");
  const parameters = [join(dirname(main), "main.js"), `--source=${source}`, "--target=framework"] as const;
  return MeasuredServer.start([process.execPath, ...parameters], () => ({ FUNCTION_SIGNATURE_TYPE: "http" }));
};
