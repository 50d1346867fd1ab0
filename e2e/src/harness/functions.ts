import type { CreateFunctionInput } from "@sless/client";
import type { FunctionBody } from "@sless/contracts";
import { buildZip } from "@sless/testing";
import type { Tenant } from "./platform.js";

const READY_TIMEOUT_SEC = 30;

/** Files of a function by their path. */
export type Files = Readonly<Record<string, string>>;

/** Files with `index.mjs` as the handler's own. */
export const nodeFiles = (handler: string): Files => ({ "index.mjs": handler });

/** A handler that answers a fixed text. */
export const answering = (text: string): Files =>
  nodeFiles(`export const handler = async () => ${JSON.stringify(text)};`);

export const zipOf = (files: Files): Buffer =>
  buildZip(Object.entries(files).map(([name, content]) => ({ name, content })));

export type Settings = Partial<Omit<CreateFunctionInput, "name">>;

/** Makes the function without code, and an HTTP trigger of the same name. */
export const createFunction = async ({ client }: Tenant, name: string, settings: Settings = {}): Promise<void> => {
  await client.functions.create({ name, runtime: "nodejs20", entrypoint: "index.handler", ...settings });
  await client.triggers.create({ name, function: name, type: "http" });
};

/** Uploads code; it has not taken effect yet when this returns. */
export const upload = async ({ client }: Tenant, name: string, files: Files): Promise<FunctionBody> => {
  const body = zipOf(files);
  const { function: fn } = await client.functions.upload(name, { body, size: body.length });
  if (fn === undefined) throw new Error(`the upload of ${name} did not answer the function`);
  return fn;
};

/**
 * Waits until a write is what answers.
 * @throws Error with the platform's reason when it can't become so
 */
export const untilReady = async ({ client }: Tenant, name: string, generation?: number): Promise<FunctionBody> => {
  const { outcome, value } = await client.functions.wait(name, {
    until: "ready",
    timeout: READY_TIMEOUT_SEC,
    ...(generation === undefined ? {} : { generation }),
  });
  if (outcome !== "done" || value === undefined)
    throw new Error(`${name} is not ready: ${outcome}, ${value?.status.message}`);
  return value;
};

/** Uploads code and waits until it answers. */
export const redeploy = async (tenant: Tenant, name: string, files: Files): Promise<FunctionBody> => {
  const { generation } = await upload(tenant, name, files);
  return untilReady(tenant, name, generation);
};

/** Brings a new function with a trigger to the point where it answers. */
export const deploy = async (tenant: Tenant, name: string, files: Files, settings: Settings = {}): Promise<string> => {
  await createFunction(tenant, name, settings);
  await redeploy(tenant, name, files);
  return urlOf(tenant, name);
};

/** URL of the trigger that is named like the function, once it is active. */
export const urlOf = async ({ client }: Tenant, name: string): Promise<string> => {
  const { value } = await client.triggers.wait(name, { until: "ready", timeout: READY_TIMEOUT_SEC });
  const url = value?.status.url;
  if (url === undefined) throw new Error(`the trigger ${name} has no URL: ${value?.status.message}`);
  return url;
};
