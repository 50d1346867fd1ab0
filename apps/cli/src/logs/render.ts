import type { LogLine } from "@sless/contracts";
import { safeText } from "../output/safe-text.js";

const DIM = 2;
const RED = 31;
const YELLOW = 33;
const SHORT_ID = 8;

const streamColor = ({ stream, level }: LogLine): number | undefined => {
  if (stream === "platform") return YELLOW;
  return stream === "stderr" || level === "error" ? RED : undefined;
};

/** One log line for a person: time, version, the beginning of the request's id, text. Controls are escaped. */
export const renderLine = (line: LogLine, color: boolean): string => {
  const paint = (code: number | undefined, text: string) =>
    color && code !== undefined ? `\u001b[${code}m${text}\u001b[0m` : text;
  const version = line.version === undefined ? "" : ` v${line.version}`;
  const request = line.request_id === undefined ? "" : ` ${safeText(line.request_id).slice(0, SHORT_ID)}`;
  const cut = line.truncated === undefined ? "" : paint(DIM, ` … ${line.truncated} bytes cut`);
  return `${paint(DIM, `${safeText(line.time)}${version}${request}`)} ${paint(streamColor(line), safeText(line.message))}${cut}`;
};
