import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** What an installation keeps from start to start. */
export interface DevclusterState {
  /** One secret for every service of the installation. */
  secret: string;
  /** Ports of the last start, taken again so that addresses in stored objects and tokens stay true. */
  ports: { api?: number; registry?: number; s3?: number; issuer?: number };
  /** Addresses while it runs. */
  urls?: { api: string; registry: string; s3: string; issuer: string };
  pid?: number;
}

const makeState = (): DevclusterState => ({ secret: randomBytes(32).toString("base64url"), ports: {} });

/**
 * Reads the state of an installation; a new one gets a secret.
 * @throws when the file is damaged: a new secret would lock out what was stored under the old one
 */
export const readState = (file: string): DevclusterState => {
  if (!existsSync(file)) return makeState();
  try {
    const state = JSON.parse(readFileSync(file, "utf8")) as DevclusterState;
    if (typeof state.secret === "string" && state.secret !== "") return state;
  } catch {
    // Told below, with what to do.
  }
  throw new Error(`${file} is damaged: restore it, or remove the installation's folder to begin anew`);
};

/** Writes it for the owner's eyes only; a killed process leaves the old file or the new one. */
export const writeState = (file: string, state: DevclusterState): void => {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
};
