/** How `sless` ends; `sless help exit-codes` prints this table and scripts rely on it. */
export const EXIT_CODES = {
  ok: { code: 0, meaning: "It worked." },
  failed: { code: 1, meaning: "It failed: the message says what happened and what to do." },
  usage: { code: 2, meaning: "The command line is wrong: nothing was done." },
  functionFailed: { code: 3, meaning: "invoke: the function answered with an error." },
  loginNeeded: { code: 4, meaning: "No valid login: run sless login, or set SLESS_TOKEN." },
  timedOut: { code: 5, meaning: "A wait reached its --timeout; the work may still go on." },
  interrupted: { code: 130, meaning: "Ctrl-C, or a signal." },
} as const;
export type ExitName = keyof typeof EXIT_CODES;

/** Something that the person at the keyboard can mend: shown without a stack trace. */
export class UserError extends Error {
  override readonly name = "UserError";
  constructor(
    message: string,
    readonly exit: ExitName = "failed",
  ) {
    super(message);
  }
}
