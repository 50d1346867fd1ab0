import { ConfigError, GATEWAY_VARIABLES, parseEnv, type GatewayConfig } from "@sless/contracts";
import { createKubeClient } from "@sless/kube";
import { createLogger, createMetrics, type Logger } from "@sless/telemetry";
import { startGateway } from "./gateway.js";

const readConfig = (): GatewayConfig => {
  try {
    return parseEnv(process.env, GATEWAY_VARIABLES);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(2);
  }
};

/** A second signal, or a fault on the way out, ends the process at once. */
const exitOnSignal = (logger: Logger, stop: () => Promise<void>): void => {
  let isStopping = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (isStopping) process.exit(1);
    isStopping = true;
    logger.info({ signal }, "draining");
    stop().then(
      () => process.exit(0),
      (err: unknown) => {
        logger.error({ err }, "stop failed");
        process.exit(1);
      },
    );
  };
  process.on("SIGTERM", onSignal).on("SIGINT", onSignal);
};

const config = readConfig();
const logger = createLogger({ component: "gateway", level: config.SLESS_LOG_LEVEL });
const kubeconfigPath = config.SLESS_KUBECONFIG;
const client = await createKubeClient(kubeconfigPath === undefined ? { inCluster: true } : { kubeconfigPath });
const gateway = await startGateway({ config, client, logger, metrics: createMetrics({ component: "gateway" }) });
exitOnSignal(logger, () => gateway.stop());
logger.info({ public: gateway.publicAddress, internal: gateway.internalAddress }, "listening");
// Rejects only when it is stopped before it was ever ready, which the log says already.
gateway.synced.then(
  () => logger.info("ready"),
  () => undefined,
);
