import { quoted, rejectEntry } from "./errors.js";

/** Overlay file systems read a name with this prefix as "delete what lies below": it would remove files of the base. */
const WHITEOUT_PREFIX = ".wh.";
// eslint-disable-next-line no-control-regex -- control characters are what this looks for
const CONTROL = /[\u0000-\u001f\u007f]/;
const DRIVE_LETTER = /^[A-Za-z]:/;

/**
 * Turns a name from outside into the path of an entry: NFC, no `.` or empty segments, no trailing slash.
 *
 * @returns the path; empty for the code directory itself (`./`)
 * @throws CodeRejected (BadName) for whatever could leave the code directory or mean different things to different tools
 */
export function parseEntryPath(name: string, maxBytes: number): string {
  const problem = nameProblem(name, maxBytes);
  if (problem !== undefined) throw rejectEntry("BadName", name, problem);
  const segments = name
    .normalize("NFC")
    .split("/")
    .filter((segment) => segment !== "" && segment !== ".");
  const bad = segments.map(segmentProblem).find((found) => found !== undefined);
  if (bad !== undefined) throw rejectEntry("BadName", name, bad);
  return segments.join("/");
}

function nameProblem(name: string, maxBytes: number): string | undefined {
  if (name === "") return "is an empty name; every entry needs one";
  if (Buffer.byteLength(name) > maxBytes) return `is longer than ${maxBytes} bytes; shorten the path`;
  if (CONTROL.test(name)) return "contains a control character; rename it";
  if (name.includes("\\")) return "contains a backslash; separate folders with /";
  if (name.startsWith("/")) return "is an absolute path; store paths relative to the code's folder";
  if (DRIVE_LETTER.test(name)) return "begins with a drive letter; store paths relative to the code's folder";
  return undefined;
}

function segmentProblem(segment: string): string | undefined {
  if (segment === "..") return "contains '..'; entries must stay inside the code's folder";
  if (segment.startsWith(WHITEOUT_PREFIX))
    return `contains ${quoted(segment)}, and ${WHITEOUT_PREFIX}* is reserved in image layers; rename it`;
  if (Buffer.byteLength(segment) > MAX_SEGMENT_BYTES)
    return `has a part longer than ${MAX_SEGMENT_BYTES} bytes, which no file system stores; shorten it`;
  return undefined;
}

/** NAME_MAX of ext4, xfs and overlayfs: a longer name would fail when the image is unpacked, long after the upload. */
const MAX_SEGMENT_BYTES = 255;
