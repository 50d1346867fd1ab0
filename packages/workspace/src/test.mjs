import { closingLine } from "./closing-line.mjs";
import { prepare } from "./bootstrap.mjs";
import { runJest } from "./jest.mjs";

/** `npm test`: installs, builds, runs every unit test, and ends with the plain line of counts. */
prepare();
const counts = runJest(process.argv.slice(2));
for (const name of counts.skippedNames) process.stdout.write(`skipped: ${name}\n`);
process.stdout.write(`${closingLine(counts)}\n`);
process.exit(counts.failed > 0 ? 1 : 0);
