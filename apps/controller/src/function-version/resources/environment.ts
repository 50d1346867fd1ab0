import { CODE_DIR, POD_ENV, type FunctionVersion } from "@sless/contracts";

interface EnvVar {
  readonly name: string;
  readonly value: string;
}

export interface EnvironmentInput {
  readonly version: FunctionVersion;
  /** Calls that one instance takes at once. */
  readonly concurrency: number;
  /** Largest body of a call, in bytes. */
  readonly maxBodyBytes: number;
}

/** Environment of a function's container, in the order of names: another order would roll out the same again. */
export const makeEnvironment = ({ version, concurrency, maxBodyBytes }: EnvironmentInput): EnvVar[] => {
  const { spec, metadata } = version;
  const platform: Record<string, string> = {
    [POD_ENV.entrypoint]: spec.entrypoint,
    [POD_ENV.codeDir]: CODE_DIR,
    [POD_ENV.timeoutSec]: String(spec.timeoutSec),
    [POD_ENV.memoryMB]: String(spec.memoryMB),
    [POD_ENV.concurrency]: String(concurrency),
    [POD_ENV.function]: spec.functionName,
    [POD_ENV.version]: String(spec.version),
    [POD_ENV.versionUid]: metadata.uid ?? "",
    [POD_ENV.namespace]: metadata.namespace ?? "",
    [POD_ENV.maxBodyBytes]: String(maxBodyBytes),
  };
  return Object.entries({ ...spec.env, ...platform })
    .map(([name, value]) => ({ name, value }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
};
