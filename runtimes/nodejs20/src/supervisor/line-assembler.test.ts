import { describe, expect, it } from "@jest/globals";
import { LineAssembler } from "./line-assembler.js";
import type { AssembledLine } from "./line-assembler.js";

const linesOf = (...chunks: string[]): AssembledLine[] => {
  const lines: AssembledLine[] = [];
  const assembler = new LineAssembler((line) => lines.push(line));
  for (const chunk of chunks) assembler.push(Buffer.from(chunk));
  assembler.flush();
  return lines;
};

describe("LineAssembler", () => {
  it("joins pieces and cuts lines", () => {
    expect(linesOf("a", "b\nc\r\n", "\nd").map(({ text }) => text)).toEqual(["ab", "c", "", "d"]);
  });

  it("R38: cuts a long line, counts what it dropped, and goes on with the next", () => {
    const [long, tail] = linesOf("a".repeat(10_000), "a".repeat(190_000), "\ntail");
    expect(long?.text).toHaveLength(16_384);
    expect(long?.dropped).toBe(200_000 - 16_384);
    expect(tail).toEqual({ text: "tail", dropped: 0 });
  });
});
