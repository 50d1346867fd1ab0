export { createInvoker, type CallResult, type Invoker, type InvokerOptions, type VersionLoad } from "./invoker.js";
export type { Call } from "./call.js";
export type { EndpointAddress } from "./endpoint.js";
export { addressesOf, versionUidOf, type EndpointSlice } from "./endpoint-slice.js";
export type { CallFault, FaultReason } from "./faults.js";
export {
  createAnswerHeadReader,
  createRequestHeaderFilter,
  type AnswerHead,
  type AnswerHeadReader,
  type HeaderList,
  type RequestHeaderFilter,
} from "./headers.js";
