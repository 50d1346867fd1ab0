import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { UserError } from "../errors.js";

/**
 * Reads a .env file.
 * @throws UserError when it can't be read
 */
export const readEnvFile = (file: string): Record<string, string> => {
  try {
    return Object.fromEntries(
      Object.entries(parseEnv(readFileSync(file, "utf8"))).map(([name, value]) => [name, value ?? ""]),
    );
  } catch (error) {
    throw new UserError(`${file} can't be read: ${(error as Error).message}`, "usage");
  }
};

/**
 * Reads `NAME=value` arguments; the value may hold further equals signs.
 * @throws UserError for one without a name
 */
export const parseAssignments = (assignments: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    assignments.map((assignment) => {
      const equals = assignment.indexOf("=");
      if (equals < 1)
        throw new UserError(`${JSON.stringify(assignment)} sets nothing. Example: --env GREETING=hello`, "usage");
      return [assignment.slice(0, equals), assignment.slice(equals + 1)];
    }),
  );
