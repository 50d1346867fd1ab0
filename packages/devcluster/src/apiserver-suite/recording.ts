import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

/** What a real kube-apiserver answered to each story, step by step, normalised. */
export interface Recording {
  version: string;
  answers: Record<string, unknown[]>;
}

const PATH = fileURLToPath(new URL("../../recorded/kube-apiserver.json", import.meta.url));

export const readRecording = (): Recording => {
  try {
    return JSON.parse(readFileSync(PATH, "utf8")) as Recording;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { version: "none", answers: {} };
    throw error;
  }
};

/** One story a line, so that a change of one shows as one. */
export const writeRecording = ({ version, answers }: Recording): void => {
  const lines = Object.entries(answers)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, shown]) => `    ${JSON.stringify(name)}: ${JSON.stringify(shown)}`);
  mkdirSync(dirname(PATH), { recursive: true });
  writeFileSync(PATH, `{\n  "version": ${JSON.stringify(version)},\n  "answers": {\n${lines.join(",\n")}\n  }\n}\n`);
};
