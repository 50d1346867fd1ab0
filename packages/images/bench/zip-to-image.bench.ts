/**
 * From a zip to a digest in a registry, against `buildah bud` and `buildah push` with an empty store. Ours includes
 * reading the zip as hostile; theirs starts from files that are unpacked already.
 */
import { createReadStream, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { measurePaired } from "@sless/testing";
import {
  createLayerPool,
  createLayersStrategy,
  createRegistryClient,
  type BuildStrategy,
  type LayerPool,
} from "../src/index.js";
import { pushBaseImage } from "./base-image.js";
import { createBuildah } from "./buildah.js";
import { startDockerRegistry } from "./docker-registry.js";
import { missingTools } from "./tools.js";
import { prepareCode, WORKLOADS, type Workload } from "./workloads.js";

const say = (result: object): boolean => process.stdout.write(`${JSON.stringify(result)}\n`);

interface Sides {
  folder: string;
  base: string;
  host: string;
  pool: LayerPool;
  strategy: BuildStrategy;
  buildah: ReturnType<typeof createBuildah>;
}

async function main(): Promise<void> {
  const missing = missingTools();
  if (missing !== undefined) return void WORKLOADS.forEach(({ name }) => say({ name, skipped: missing }));
  const folder = mkdtempSync(join(tmpdir(), "sless-bench-images-"));
  const registry = await startDockerRegistry(join(folder, "registry"));
  const client = createRegistryClient({ url: registry.url });
  const pool = createLayerPool();
  try {
    const base = await pushBaseImage(client, folder);
    const strategy = createLayersStrategy({ target: client });
    const sides = { folder, base, host: registry.host, pool, strategy, buildah: createBuildah(folder) };
    for (const workload of WORKLOADS) say(await measure(workload, sides));
  } finally {
    await pool.close();
    await client.close();
    await registry.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function measure(workload: Workload, sides: Sides) {
  let count = 0;
  const timed = async (
    run: (code: { code: string; zip: string }, id: number) => Promise<void> | void,
  ): Promise<number> => {
    const folder = join(sides.folder, `${workload.name}-${count++}`);
    mkdirSync(folder);
    const code = await prepareCode(workload, folder);
    const start = performance.now();
    await run(code, count);
    const took = performance.now() - start;
    rmSync(folder, { recursive: true });
    return took;
  };
  return measurePaired({
    ...workload,
    better: "lower",
    against: "buildah bud + push, empty store",
    ours: () => timed((code) => zipToImage(code.zip, sides)),
    theirs: () =>
      timed(({ code }, id) =>
        sides.buildah({ code, base: sides.base, target: `${sides.host}/bench/buildah:${workload.name}-${id}` }),
      ),
  });
}

async function zipToImage(zip: string, { pool, strategy, base }: Sides): Promise<void> {
  const file = `${zip}.tar.gz`;
  const layer = await pool.layerFromZip(zip, file, { tenant: "bench" });
  await strategy.build(
    {
      function: { name: "bench", uid: "00000000-0000-4000-8000-000000000000" },
      repository: "bench/ours",
      base,
      platform: { os: "linux", architecture: "amd64" },
      code: {
        codeDigest: layer.codeDigest,
        openArtifact: () => Promise.resolve(createReadStream(file)),
        summary: layer,
      },
    },
    {},
  );
}

await main();
