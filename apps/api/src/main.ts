import { API_VARIABLES, ConfigError, parseEnv } from "@sless/contracts";
import { createLogger } from "@sless/telemetry";
import { runApi } from "./run-api.js";

const EXIT_CONFIG = 78;

const start = async (): Promise<void> => {
  const config = parseEnv(process.env, API_VARIABLES);
  const logger = createLogger({ component: "api", level: config.SLESS_LOG_LEVEL });
  const api = await runApi(config, logger);
  const stop = (signal: NodeJS.Signals): void => {
    logger.info({ signal }, "draining");
    api.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        logger.error({ err: error }, "stopping failed");
        process.exit(1);
      },
    );
  };
  process.once("SIGTERM", stop);
  process.once("SIGINT", stop);
};

start().catch((error: unknown) => {
  process.stderr.write(
    `${error instanceof Error ? (error instanceof ConfigError ? error.message : error.stack) : String(error)}\n`,
  );
  process.exit(error instanceof ConfigError ? EXIT_CONFIG : 1);
});
