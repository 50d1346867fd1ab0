import { ConfigError, CONTROLLER_VARIABLES, parseEnv, type ControllerConfig } from "@sless/contracts";
import { createKubeClient } from "@sless/kube";
import { createLogger, createMetrics, type Logger } from "@sless/telemetry";
import { startManager, type Manager } from "./manager.js";

const readConfig = (): ControllerConfig => {
  try {
    return parseEnv(process.env, CONTROLLER_VARIABLES);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(2);
  }
};

/** A second signal, or work that does not end within the drain time, ends the process at once. */
const stopOnSignal = (manager: Manager, logger: Logger, drainSeconds: number): void => {
  let isStopping = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (isStopping) process.exit(1);
    isStopping = true;
    logger.info({ signal }, "stopping");
    setTimeout(() => process.exit(1), drainSeconds * 1000).unref();
    void manager.stop().catch(() => undefined); // `finished` carries the failure.
  };
  process.on("SIGTERM", onSignal).on("SIGINT", onSignal);
};

const config = readConfig();
const logger = createLogger({ component: "controller", level: config.SLESS_LOG_LEVEL });
const kubeconfigPath = config.SLESS_KUBECONFIG;
const client = await createKubeClient(kubeconfigPath === undefined ? { inCluster: true } : { kubeconfigPath });
const manager = await startManager({ config, client, logger, metrics: createMetrics({ component: "controller" }) });
stopOnSignal(manager, logger, config.SLESS_DRAIN_SECONDS);
logger.info({ health: manager.healthAddress }, "started");
try {
  await manager.finished;
  logger.info("stopped");
  process.exit(0);
} catch (err) {
  logger.fatal({ err }, "the controller can't go on");
  process.exit(1);
}
