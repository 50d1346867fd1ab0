import type { LogLine } from "@sless/contracts";

/** The newest lines of a pod's past, bounded in size. */
export const createPastBuffer = (maxBytes: number) => {
  const lines: LogLine[] = [];
  let start = 0;
  let bytes = 0;
  const sizeOf = (line: LogLine | undefined): number => (line?.message.length ?? 0) + 100;
  return {
    push: (line: LogLine): void => {
      lines.push(line);
      bytes += sizeOf(line);
      while (bytes > maxBytes && start < lines.length - 1) bytes -= sizeOf(lines[start++]);
      if (start * 2 > lines.length) {
        lines.splice(0, start);
        start = 0;
      }
    },
    lines: (): LogLine[] => lines.slice(start),
  };
};
