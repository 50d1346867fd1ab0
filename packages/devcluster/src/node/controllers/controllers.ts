import type { Controller, ControllerDeps } from "./controller.js";
import { startDeploymentController } from "./deployment.js";
import { startEndpointSliceController } from "./endpoint-slice.js";
import { startJobController, type JobBackoff } from "./job.js";
import { startReplicaSetController } from "./replica-set.js";
import { startResourceQuotaController } from "./resource-quota.js";

/** Starts all controllers of workloads; the answer ends them all. */
export const startControllers = (deps: ControllerDeps, jobBackoff?: JobBackoff): Controller => {
  const controllers = [
    startDeploymentController(deps),
    startReplicaSetController(deps),
    startEndpointSliceController(deps),
    startJobController(deps, jobBackoff),
    startResourceQuotaController(deps),
  ];
  return {
    async close() {
      await Promise.all(controllers.map((controller) => controller.close()));
    },
  };
};
