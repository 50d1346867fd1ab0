/** Tells a person on standard error what goes on; standard output is for results alone. */
export interface Progress {
  /** Runs one step and says how long it took. A step that throws is marked as failed and the error goes on. */
  step<T>(title: string, work: (update: (detail: string) => void) => Promise<T>): Promise<T>;
  /** A line of its own. */
  readonly say: (text: string) => void;
  readonly warn: (text: string) => void;
  /** Lets a result be written while a step runs: on a terminal the step makes room for it and shows again below. */
  readonly aside: (write: () => void) => void;
}

export interface ProgressOptions {
  readonly stream: { write(text: string): unknown; isTTY?: boolean };
  readonly color: boolean;
  /** Milliseconds from any fixed point. */
  readonly now?: () => number;
}

const SGR = { green: 32, red: 31, yellow: 33, dim: 2 } as const;

/** Seconds with one digit, or milliseconds below one second. */
export const formatDuration = (milliseconds: number): string =>
  milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;

/**
 * Progress as lines. On a terminal the running step shows with its latest detail and is overwritten when it ends;
 * elsewhere only finished steps are written, so that a CI log has one line for each.
 */
export const createProgress = ({ stream, color, now = () => performance.now() }: ProgressOptions): Progress => {
  const paint = (code: keyof typeof SGR, text: string) => (color ? `\u001b[${SGR[code]}m${text}\u001b[0m` : text);
  const terminal = stream.isTTY === true;
  const clear = terminal ? "\r\u001b[K" : "";
  let showRunning: () => void = () => undefined;
  const aside = (write: () => void): void => {
    if (terminal) stream.write(clear);
    write();
    showRunning();
  };

  return {
    async step(title, work) {
      const started = now();
      let detail = "";
      const show = () => void (terminal && stream.write(`${clear}${paint("dim", "…")} ${title}${detail}`));
      const end = (mark: string) => {
        showRunning = () => undefined;
        stream.write(`${clear}${mark} ${title}${detail} ${paint("dim", `(${formatDuration(now() - started)})`)}\n`);
      };
      showRunning = show;
      show();
      try {
        const result = await work((text) => {
          detail = `: ${text}`;
          show();
        });
        end(paint("green", "✓"));
        return result;
      } catch (error) {
        end(paint("red", "✗"));
        throw error;
      }
    },
    say: (text) => aside(() => stream.write(`${text}\n`)),
    warn: (text) => aside(() => stream.write(`${paint("yellow", "!")} ${text}\n`)),
    aside,
  };
};
