import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { prepare, root } from "./bootstrap.mjs";

/**
 * `pnpm bench [name…] [--json]`: runs the benchmarks and holds each against its goal. A benchmark is a program
 * `<package>/bench/<name>.bench.ts` (`.cluster.bench.ts` for `pnpm bench:cluster`) that prints one result a line:
 * `{"name","value","low","high","goal","better","runs","against"}`, or `{"name","skipped"}` with the reason.
 */
const [lane, ...args] = process.argv.slice(2);
const json = args.includes("--json");
const wanted = args.filter((argument) => !argument.startsWith("-"));
const suffix = lane === "cluster" ? ".cluster.bench.ts" : ".bench.ts";

const belongs = (file) => file.endsWith(suffix) && (lane === "cluster" || !file.endsWith(".cluster.bench.ts"));

const benchFiles = () =>
  ["packages", "apps", "runtimes"]
    .flatMap((group) => readdirSync(`${root}/${group}`).map((name) => `${root}/${group}/${name}/bench`))
    .concat(`${root}/e2e/bench`)
    .filter((folder) => existsSync(folder))
    .flatMap((folder) =>
      readdirSync(folder)
        .filter(belongs)
        .map((file) => `${folder}/${file}`),
    );

const nameOf = (file) => file.slice(file.lastIndexOf("/") + 1, -suffix.length);

const measure = (file) => {
  const flags = ["--import", "tsx", "--conditions=@sless/source"];
  const { stdout, status } = spawnSync(process.execPath, [...flags, file], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  const results = stdout
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));
  if (status === 0 && results.length > 0) return results;
  return [...results, { name: nameOf(file), broken: `exit code ${status}` }];
};

const missed = ({ better, low, high, goal }) => (better === "lower" ? low > goal : high < goal);
const figure = (value) => Number(value).toPrecision(3);

const describe = (result) => {
  if (result.broken !== undefined) return `✗ ${result.name}: broken (${result.broken})`;
  if (result.skipped !== undefined) return `- ${result.name}: skipped, ${result.skipped}`;
  const { name, value, low, high, goal, better, runs, against } = result;
  const bound = better === "lower" ? "at most" : "at least";
  return `${missed(result) ? "✗" : "✓"} ${name}: ${figure(value)} (${figure(low)}–${figure(high)}, ${runs} runs) of ${against}; goal ${bound} ${figure(goal)}`;
};

prepare();
const chosen = benchFiles().filter((file) => wanted.length === 0 || wanted.some((name) => nameOf(file).includes(name)));
if (chosen.length === 0) {
  process.stderr.write(
    `No benchmark is called ${wanted.join(", ") || "anything"}. There are: ${benchFiles().map(nameOf).join(", ")}\n`,
  );
  process.exit(2);
}
let bad = false;
for (const file of chosen) {
  for (const result of measure(file)) {
    bad ||= result.broken !== undefined || (result.skipped === undefined && missed(result));
    process.stdout.write(`${json ? JSON.stringify(result) : describe(result)}\n`);
  }
}
process.exit(bad ? 1 : 0);
