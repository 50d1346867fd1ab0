import { parentPort } from "node:worker_threads";
import { CodeRejected } from "../code/errors.js";
import { digestOfZip, inspectZip, layerFromZip } from "../layer/layer-from-zip.js";
import type { WorkerAnswer, WorkerRequest } from "./protocol.js";

/** Entry of a worker thread: one request at a time, one answer each. */
parentPort?.on("message", (request: WorkerRequest) => {
  void answer(request).then((message) => parentPort?.postMessage(message));
});

async function answer(request: WorkerRequest): Promise<WorkerAnswer> {
  try {
    return { outcome: "done", output: await run(request) };
  } catch (error) {
    if (error instanceof CodeRejected) {
      const { fault, message, path } = error;
      return { outcome: "rejected", fault, message, path };
    }
    return { outcome: "failed", message: error instanceof Error ? error.message : String(error) };
  }
}

function run(request: WorkerRequest) {
  switch (request.task) {
    case "layerFromZip":
      return layerFromZip(request.input.zip, request.input.out, request.input.limits);
    case "digestOfZip":
      return digestOfZip(request.input.zip, request.input.limits);
    case "inspectZip":
      return inspectZip(request.input.zip, request.input.limits);
  }
}
