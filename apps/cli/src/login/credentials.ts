import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import { UserError } from "../errors.js";

const Login = z.object({
  endpoint: z.string(),
  /** Either the token itself or a file that somebody keeps fresh, as the local platform does. */
  token: z.string().optional(),
  tokenFile: z.string().optional(),
});
export type Login = z.infer<typeof Login>;

const Credentials = z.object({ current: z.string().optional(), logins: z.record(z.string(), Login) });
export type Credentials = z.infer<typeof Credentials>;

const NONE: Credentials = { logins: {} };

/**
 * Reads the saved logins.
 * @throws UserError when the file is there but can't be read as such: it is never silently replaced.
 */
export const readCredentials = (file: string): Credentials => {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return NONE;
  }
  const parsed = Credentials.safeParse(parseJson(text));
  if (!parsed.success) throw new UserError(`${file} is damaged. Delete it and run sless login again.`);
  return parsed.data;
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Writes the saved logins as a whole, readable by their owner alone (mode 0600). */
export const writeCredentials = (file: string, credentials: Credentials): void => {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${process.pid}.tmp`;
  writeFileSync(temporary, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600 });
  chmodSync(temporary, 0o600);
  renameSync(temporary, file);
};
