import { spawnSync } from "node:child_process";

/** Debian packages that the comparison needs. */
const PACKAGES = ["buildah", "docker-registry"];

/** @returns why the comparison can't be made here, or undefined when everything is there */
export function missingTools(): string | undefined {
  if (PACKAGES.every(isInstalled)) return undefined;
  if (process.getuid?.() !== 0 || !isInstalled("apt-get")) return `${PACKAGES.join(" and ")} are not installed`;
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  spawnSync("apt-get", ["update", "-qq"], { env, stdio: "ignore", timeout: 120_000 });
  spawnSync("apt-get", ["install", "-y", "-qq", ...PACKAGES], { env, stdio: "ignore", timeout: 300_000 });
  return PACKAGES.every(isInstalled) ? undefined : `${PACKAGES.join(" and ")} can't be installed from here`;
}

function isInstalled(command: string): boolean {
  return spawnSync("sh", ["-c", `command -v ${command}`]).status === 0;
}
