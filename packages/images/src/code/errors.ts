/** Why code was refused; stable words for conditions, problem documents and tests. */
export type CodeFault =
  | "NotAZip"
  | "Truncated"
  | "Empty"
  | "Encrypted"
  | "Unsupported"
  | "TooManyEntries"
  | "TooLarge"
  | "CompressionRatio"
  | "BadName"
  | "DuplicateName"
  | "PathConflict"
  | "BadSymlink"
  | "SpecialFile"
  | "Overlap"
  | "Corrupt"
  | "Changed";

/**
 * The code handed in can't become a layer, and trying again won't help: the author of the zip or folder has to change
 * something. Never falls through to another build strategy.
 */
export class CodeRejected extends Error {
  override readonly name = "CodeRejected";

  constructor(
    readonly fault: CodeFault,
    message: string,
    /** The entry that is at fault, as shown in the message. */
    readonly path?: string,
  ) {
    super(message);
  }
}

/** A name from outside as it may stand in a message: escaped and cut. */
export function quoted(name: string): string {
  const shown = name.length > 120 ? `${name.slice(0, 120)}…` : name;
  return JSON.stringify(shown).replace(/[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, escapeUnit);
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Refuses an entry by name. */
export function rejectEntry(fault: CodeFault, path: string, problem: string): CodeRejected {
  return new CodeRejected(fault, `${quoted(path)} ${problem}`, path);
}
