export { createClient } from "./client.js";
export type {
  Awaited,
  AwaitOptions,
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
export { ApiError, EndpointError, WaitTimeout } from "./errors.js";
export type { ClientOptions, RawAnswer } from "./transport.js";
