import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The command that an image of this runtime starts. */
export const RUNTIME_ENTRYPOINT: readonly string[] = ["node", "/opt/sless/runtime/supervisor.js"];

/** The folder whose files an image holds as /opt/sless/runtime; there after `pnpm --filter @sless/runtime-nodejs20 build`. */
export const runtimeDirectory = (): string => join(dirname(fileURLToPath(import.meta.url)), "..", "dist");
