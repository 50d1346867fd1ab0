import { pino, stdTimeFunctions, type DestinationStream, type Logger as PinoLogger } from "pino";
import { maskCredentials } from "./mask-credentials.js";

export type Logger = PinoLogger;

export interface LoggerOptions {
  /** Part of the platform that speaks: `api`, `controller`, `gateway`. Stands on each line. */
  readonly component: string;
  readonly level: "debug" | "info" | "warn" | "error";
  /** Where lines go; standard output by default. */
  readonly destination?: DestinationStream;
}

/** Fields whose values are never logged, wherever they stand: at the top, or one or two levels down. */
const SECRET_FIELDS = [
  "authorization",
  "Authorization",
  "cookie",
  "Cookie",
  '["set-cookie"]',
  '["Set-Cookie"]',
  '["x-sless-caller"]',
  "token",
  "accessToken",
  "refreshToken",
  "password",
  "secret",
  "secretAccessKey",
  "internalKey",
];

const below = (prefix: string, field: string): string =>
  field.startsWith("[") ? `${prefix}${field}` : `${prefix}.${field}`;

const REDACTED_PATHS = SECRET_FIELDS.flatMap((field) => [field, below("*", field), below("*.*", field)]);

/**
 * A logger of one JSON object a line, with RFC 3339 times and level names. Tokens, authorization and cookies are
 * redacted by field name and, where they stand inside a text, by their form (security 25: tokens are never logged).
 */
export const createLogger = ({ component, level, destination }: LoggerOptions): Logger => {
  const options = {
    level,
    base: { component },
    messageKey: "message",
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: REDACTED_PATHS, censor: "[redacted]" },
    hooks: { streamWrite: maskCredentials },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
};
