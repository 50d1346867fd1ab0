import { inspect } from "node:util";
import type { FaultBody } from "../shared/protocol.js";

const MAX_MESSAGE_CHARACTERS = 4096;
const MAX_STACK_LINES = 30;
const MAX_LINE_CHARACTERS = 1024;

/** Removes the place where the code lies on this machine: callers and conditions see paths below the function's folder. */
export type HidePaths = (text: string) => string;

export const createHidePaths =
  (codeDirs: readonly string[]): HidePaths =>
  (text) => {
    let hidden = text;
    for (const directory of codeDirs) {
      hidden = hidden.replaceAll(`file://${directory}/`, "").replaceAll(`${directory}/`, "");
    }
    return hidden;
  };

/** Frames of Node and of this runtime say nothing about the function and name paths of the machine. */
const isForeignFrame = (line: string): boolean => /^\s+at /.test(line) && /[( ](?:node:|file:\/\/|\/)/.test(line);

const stackLines = (stack: string, hidePaths: HidePaths): string[] =>
  hidePaths(stack)
    .split("\n", MAX_STACK_LINES * 2)
    .filter((line) => !isForeignFrame(line))
    .slice(0, MAX_STACK_LINES)
    .map((line) => line.slice(0, MAX_LINE_CHARACTERS));

/** Describes whatever a handler threw. Never throws itself, though getters of the thrown value may. */
export const describeThrown = (thrown: unknown, hidePaths: HidePaths): FaultBody => {
  try {
    if (thrown instanceof Error) {
      return {
        errorType: String(thrown.name || thrown.constructor.name).slice(0, 256),
        errorMessage: hidePaths(String(thrown.message)).slice(0, MAX_MESSAGE_CHARACTERS),
        ...(typeof thrown.stack === "string" && { stackTrace: stackLines(thrown.stack, hidePaths) }),
      };
    }
    const text = typeof thrown === "object" && thrown !== null ? JSON.stringify(thrown) : String(thrown);
    return { errorType: typeof thrown, errorMessage: hidePaths(text ?? "").slice(0, MAX_MESSAGE_CHARACTERS) };
  } catch {
    return { errorType: typeof thrown, errorMessage: "the thrown value cannot be described" };
  }
};

/** What the function's log says of a thrown value: as Node prints it, causes included, without foreign frames. */
export const renderThrown = (thrown: unknown, hidePaths: HidePaths): string => {
  try {
    const lines = hidePaths(inspect(thrown)).split("\n");
    return lines.filter((line) => !isForeignFrame(line)).join("\n");
  } catch {
    return "The thrown value can't be shown.";
  }
};
