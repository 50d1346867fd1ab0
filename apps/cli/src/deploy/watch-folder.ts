import { watch } from "chokidar";

/** An editor writes a file in several steps; the change counts once it has been quiet for so long. */
const QUIET_MS = 40;

/**
 * Hears of changes below a folder.
 * @param changed is called once for changes that come together
 * @returns stops watching
 */
export const watchFolder = async (dir: string, changed: () => void): Promise<() => Promise<void>> => {
  let timer: NodeJS.Timeout | undefined;
  const watcher = watch(dir, {
    ignoreInitial: true,
    ignored: (path) => /[\\/](\.git|node_modules|__pycache__)([\\/]|$)/.test(path),
  });
  watcher.on("all", () => {
    clearTimeout(timer);
    timer = setTimeout(changed, QUIET_MS);
  });
  await new Promise<void>((resolve, reject) => watcher.once("ready", resolve).once("error", reject));
  return async () => {
    clearTimeout(timer);
    await watcher.close();
  };
};
