import { closingLine } from "./closing-line.mjs";
import { runJest } from "./jest.mjs";

/** The stories of `e2e`, one after the other; ends with the plain line of counts. Arguments go to jest. */
const counts = runJest(["--config", "e2e/jest.config.mjs", ...process.argv.slice(2)]);
for (const name of counts.skippedNames) process.stdout.write(`skipped: ${name}\n`);
process.stdout.write(`${closingLine(counts)}\n`);
process.exit(counts.failed > 0 ? 1 : 0);
