import { existsSync } from "node:fs";
import { join } from "node:path";
import { readEnvFile } from "./env-file.js";

/** Where a variable's value came from. */
export interface EnvValue {
  readonly name: string;
  readonly value: string;
  readonly source: string;
}

/**
 * The environment of local development. What comes later in this order wins: `sless.yaml`, `.env`, `.env.local`,
 * flags. The files themselves are never uploaded.
 * @returns one entry a name, sorted, with the source that won
 */
export const layerEnv = (
  dir: string,
  fromProject: Readonly<Record<string, string>>,
  fromFlags: Readonly<Record<string, string>>,
): readonly EnvValue[] => {
  const files = [".env", ".env.local"].filter((file) => existsSync(join(dir, file)));
  const layers: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ["sless.yaml", fromProject],
    ...files.map((file) => [file, readEnvFile(join(dir, file))] as const),
    ["--env", fromFlags],
  ];
  const won = new Map<string, EnvValue>();
  for (const [source, values] of layers)
    for (const [name, value] of Object.entries(values)) won.set(name, { name, value, source });
  return [...won.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
};
