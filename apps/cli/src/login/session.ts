import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { UserError } from "../errors.js";
import { readCredentials } from "./credentials.js";

/** Whom to talk to and with which token, and where each came from: `sless whoami` says so. */
export interface Session {
  readonly endpoint: string;
  readonly endpointSource: string;
  /** Reads the token anew each time: a file may have been refreshed meanwhile. */
  readonly token: () => string;
  readonly tokenSource: string;
  /** For a platform of this machine: its data folder. */
  readonly dataDir?: string;
}

export interface SessionInput {
  /** `--endpoint` */
  readonly endpoint?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly credentialsFile: string;
}

const originOf = (endpoint: string): string => {
  if (!URL.canParse(endpoint))
    throw new UserError(`${JSON.stringify(endpoint)} is no URL. Example: https://api.example.com`, "usage");
  return new URL(endpoint).origin;
};

const readToken = (file: string): string => {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    throw new UserError(
      `The login's token file ${file} is gone. Is the local platform running? Start it with: sless up --data-dir ${dirname(file)}`,
      "loginNeeded",
    );
  }
};

/**
 * Decides endpoint and token. Endpoint: `--endpoint`, then SLESS_ENDPOINT, then the current login. Token: SLESS_TOKEN,
 * then the login saved for exactly that origin; a saved token is sent nowhere else.
 * @throws UserError (exit code 4) when either is missing
 */
export const openSession = ({ endpoint, env, credentialsFile }: SessionInput): Session => {
  const { current, logins } = readCredentials(credentialsFile);
  const chosen = chooseEndpoint(endpoint, env, current === undefined ? undefined : logins[current]?.endpoint);
  const fromEnv = env["SLESS_TOKEN"];
  if (fromEnv !== undefined && fromEnv !== "") return { ...chosen, token: () => fromEnv, tokenSource: "SLESS_TOKEN" };

  const origin = originOf(chosen.endpoint);
  const fitting = Object.entries(logins).filter(([, login]) => originOf(login.endpoint) === origin);
  const saved = fitting.find(([name]) => name === current) ?? fitting[0];
  if (saved === undefined) {
    throw new UserError(`There is no login for ${origin}. Run: sless login --endpoint ${origin}`, "loginNeeded");
  }
  const [name, { token, tokenFile }] = saved;
  if (tokenFile !== undefined)
    return {
      ...chosen,
      token: () => readToken(tokenFile),
      tokenSource: `login "${name}" (${tokenFile})`,
      dataDir: dirname(tokenFile),
    };
  return { ...chosen, token: () => token ?? "", tokenSource: `login "${name}" (${credentialsFile})` };
};

const chooseEndpoint = (
  option: string | undefined,
  env: NodeJS.ProcessEnv,
  current: string | undefined,
): Pick<Session, "endpoint" | "endpointSource"> => {
  const candidates: readonly [string | undefined, string][] = [
    [option, "--endpoint"],
    [env["SLESS_ENDPOINT"], "SLESS_ENDPOINT"],
    [current, "the current login"],
  ];
  const found = candidates.find(([value]) => value !== undefined && value !== "");
  if (found === undefined) {
    throw new UserError(
      "No endpoint is known. Start a platform on this machine with: sless up\nor log in to one with: sless login --endpoint https://…",
      "loginNeeded",
    );
  }
  const [value = "", endpointSource] = found;
  originOf(value);
  return { endpoint: value.replace(/\/+$/, ""), endpointSource };
};
