import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { zipFolder } from "../src/index.js";

/** Code to deploy; `write` makes another one each time, so that no side finds anything it has seen before. */
export interface Workload {
  name: string;
  /** At most this share of the other side's time. */
  goal: number;
  runs: number;
  write(folder: string): void;
}

/** The packed sizes are those of the goals: 4 KB and 20 MB. */
export const WORKLOADS: readonly Workload[] = [
  {
    name: "zip-to-image-4kb",
    goal: 1 / 50,
    runs: 8,
    write: (folder) => writeFiles(folder, 4, () => randomBytes(750).toString("base64")),
  },
  {
    name: "zip-to-image-20mb",
    goal: 1 / 10,
    runs: 6,
    write: (folder) => writeFiles(folder, 10, () => randomBytes(2 << 20)),
  },
  {
    name: "zip-to-image-20mb-8000-files",
    goal: 1 / 10,
    runs: 4,
    write: (folder) => writeFiles(folder, 8_000, makeScript),
  },
];

/** A folder of this workload and its zip. */
export async function prepareCode(workload: Workload, folder: string): Promise<{ code: string; zip: string }> {
  const code = join(folder, "code");
  workload.write(code);
  const zip = join(folder, "code.zip");
  await zipFolder(code, zip);
  return { code, zip };
}

function writeFiles(folder: string, count: number, make: (index: number) => string | Buffer): void {
  for (let index = 0; index < count; index++) {
    const path = join(folder, `part${index % 100}`, `file${index}.js`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, make(index));
  }
}

/** About 2.4 KB that compress like source does: words that repeat, names that do not. */
function makeScript(index: number): string {
  const line = () =>
    `export const ${randomBytes(6).toString("hex")} = (value) => value.map((item) => item.${randomBytes(3).toString("hex")});\n`;
  return `// ${index}\n${Array.from({ length: 30 }, line).join("")}`;
}
