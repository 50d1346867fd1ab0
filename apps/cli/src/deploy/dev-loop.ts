import { ApiError, EndpointError, type SlessClient } from "@sless/client";
import { UserError } from "../errors.js";
import { safeText } from "../output/safe-text.js";
import type { Progress } from "../output/progress.js";
import { deploy, type Deployed, type DeployOptions } from "./deploy.js";
import { watchFolder } from "./watch-folder.js";

const isForTheAuthor = (error: unknown): error is Error =>
  error instanceof UserError || error instanceof ApiError || error instanceof EndpointError;

/** A signal that somebody waits for; signals that come before the wait are not lost, and several count as one. */
const createDoorbell = () => {
  let isRung = true;
  let open: (() => void) | undefined;
  return {
    ring: () => {
      isRung = true;
      open?.();
    },
    async wait(): Promise<void> {
      if (!isRung) await new Promise<void>((resolve) => (open = resolve));
      isRung = false;
    },
  };
};

/** What a folder gives warning of is the same at each save: it is said once. */
export const warningOnce = (progress: Progress): Progress => {
  const said = new Set<string>();
  const warn = (text: string): void => {
    if (!said.has(text)) progress.warn(text);
    said.add(text);
  };
  return { ...progress, warn };
};

/**
 * Deploys a folder, and again at each change, until the signal aborts. What can't run is reported and waits for the
 * next save; the version before goes on answering.
 * @param makeOptions reads the project anew for each deploy, since its settings may be what changed
 * @param deployed hears of each version that answers
 */
export const runDevLoop = async (
  client: SlessClient,
  dir: string,
  loop: {
    makeOptions: () => DeployOptions;
    deployed: (result: Deployed) => void;
    progress: Progress;
    signal: AbortSignal;
  },
): Promise<void> => {
  const { makeOptions, deployed, progress, signal } = loop;
  const doorbell = createDoorbell();
  const deployProgress = warningOnce(progress);
  const stop = await watchFolder(dir, doorbell.ring);
  signal.addEventListener("abort", doorbell.ring, { once: true });
  const deployOnce = async (): Promise<void> => {
    try {
      deployed(await deploy(client, makeOptions(), deployProgress));
    } catch (error) {
      if (!isForTheAuthor(error) && !signal.aborted) throw error;
      if (!signal.aborted) progress.warn(`${safeText((error as Error).message)}\nWaiting for the next save.`);
    }
  };
  try {
    for (await doorbell.wait(); !signal.aborted; await doorbell.wait()) await deployOnce();
  } finally {
    await stop();
  }
};
