import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface BuildahBuild {
  /** Folder with the unpacked code: unpacking the zip is not counted against it. */
  code: string;
  base: string;
  /** `host/repository:tag` */
  target: string;
}

/**
 * Builds and pushes as a build pod does: with an empty store, so that the base has to be pulled. The faster of the
 * storage drivers that work here is used.
 *
 * @param folder for the stores
 */
export function createBuildah(folder: string): (build: BuildahBuild) => void {
  const driver = workingDriver(folder);
  return ({ code, base, target }) => {
    const store = mkdtempSync(join(folder, "store-"));
    const dockerfile = join(store, "Dockerfile");
    writeFileSync(dockerfile, `FROM ${base}\nCOPY . /function\n`);
    try {
      const common = globalOptions(store, driver);
      buildah([...common, "bud", "--isolation", "chroot", "--tls-verify=false", "-f", dockerfile, "-t", target, code]);
      buildah([...common, "push", "--tls-verify=false", target, `docker://${target}`]);
    } finally {
      // overlay leaves its mount point mounted
      spawnSync("umount", [join(store, "root", driver)], { stdio: "ignore" });
      rmSync(store, { recursive: true, force: true });
    }
  };
}

function globalOptions(store: string, driver: string): string[] {
  return ["--root", join(store, "root"), "--runroot", join(store, "run"), "--storage-driver", driver];
}

function workingDriver(folder: string): string {
  const store = mkdtempSync(join(folder, "probe-"));
  const { status } = spawnSync("buildah", [...globalOptions(store, "overlay"), "from", "scratch"], { stdio: "ignore" });
  spawnSync("umount", [join(store, "root", "overlay")], { stdio: "ignore" });
  rmSync(store, { recursive: true, force: true });
  return status === 0 ? "overlay" : "vfs";
}

function buildah(args: string[]): void {
  execFileSync("buildah", args, { stdio: ["ignore", "ignore", "pipe"], timeout: 300_000 });
}
