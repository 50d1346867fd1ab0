import type { Logger } from "../logger.js";

export interface LogLine {
  level: keyof Logger;
  fields: object;
  message: string;
}

/** A logger that keeps its lines for the test to look at. */
export const createMemoryLogger = (): Logger & { readonly lines: LogLine[] } => {
  const lines: LogLine[] = [];
  const at = (level: keyof Logger) => (fields: object, message: string) => {
    lines.push({ level, fields, message });
  };
  return { lines, debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
};
