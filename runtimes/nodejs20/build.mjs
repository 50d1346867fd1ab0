/** Bundles the runtime into self-contained files: an image gets a copy of dist/ as /opt/sless/runtime and nothing else. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const common = { platform: "node", target: "node20", format: "esm", logLevel: "warning" };

rmSync("dist", { recursive: true, force: true });
mkdirSync("dist");
await build({
  ...common,
  bundle: true,
  entryPoints: {
    supervisor: "src/supervisor/main.ts",
    worker: "src/worker/main.ts",
    "call-table-mirror": "src/worker/call-table-mirror.ts",
  },
  outdir: "dist",
});
await build({ ...common, entryPoints: ["src/index.ts", "src/runtime-directory.ts"], outdir: "dist" });
// Below /opt/sless/runtime there is no other package.json that would make Node.js read these files as ES modules.
writeFileSync("dist/package.json", JSON.stringify({ type: "module" }) + "\n");
