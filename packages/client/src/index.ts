export { createClient, type CreateTriggerInput, type SlessClient, type TriggerSettingsInput } from "./client.js";
export type {
  AwaitOptions,
  Collection,
  ListOptions,
  Page,
  Tagged,
  WaitOptions,
  WaitResult,
  WriteOptions,
} from "./collection.js";
export { parseEndpoint } from "./endpoint.js";
export { ApiError, EndpointError, WaitTimeout } from "./errors.js";
export type {
  CreateFunctionInput,
  Functions,
  FunctionSettingsInput,
  InvokeOptions,
  LogOptions,
  Upload,
} from "./functions.js";
export type { ClientOptions, RawAnswer } from "./transport.js";
