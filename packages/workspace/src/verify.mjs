import { execFileSync } from "node:child_process";
import { pnpm, prepare, root, run } from "./bootstrap.mjs";

/** `pnpm verify`: what must hold before a commit that matters. Generated files that differ make the tree dirty. */
const steps = [
  ["generate", [...pnpm, "run", "--silent", "generate"]],
  ["lint", [...pnpm, "run", "--silent", "lint"]],
  ["typecheck", [...pnpm, "run", "--silent", "typecheck"]],
  ["unit", ["node", "packages/workspace/src/test.mjs"]],
];

prepare();
for (const [name, command] of steps) {
  process.stdout.write(`\n── ${name}\n`);
  run(command);
}
process.stdout.write("\n── clean tree\n");
const dirty = execFileSync("git", ["status", "--porcelain"], { cwd: root, encoding: "utf8" }).trim();
if (dirty !== "") {
  process.stdout.write(`Not committed (generated files are committed too):\n${dirty}\n`);
  process.exit(1);
}
process.stdout.write("verified\n");
