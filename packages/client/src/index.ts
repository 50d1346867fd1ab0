export { createClient } from "./client.js";
export type {
  Collection,
  CreateFunctionInput,
  CreateTriggerInput,
  Functions,
  FunctionSettingsInput,
  InvokeOptions,
  ListOptions,
  LogOptions,
  Page,
  SlessClient,
  Tagged,
  TriggerSettingsInput,
  Upload,
  WaitOptions,
  WriteOptions,
} from "./client.js";
export { parseEndpoint } from "./endpoint.js";
export { ApiError, EndpointError } from "./errors.js";
export type { ClientOptions, RawAnswer } from "./transport.js";
