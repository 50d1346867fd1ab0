import { ANSWER_GROUPS } from "./answers.js";
import { CONCURRENCY_GROUPS } from "./concurrency.js";
import { FAULT_GROUPS } from "./faults.js";
import { LIFECYCLE_GROUPS } from "./lifecycle.js";
import { LOADING_GROUPS } from "./loading.js";
import { LOG_GROUPS } from "./logs.js";
import { REQUEST_GROUPS } from "./requests.js";
import { STREAM_GROUPS } from "./streams.js";
import type { CaseGroup } from "../conformance-case.js";

export const CASE_GROUPS: readonly CaseGroup[] = [
  ...REQUEST_GROUPS,
  ...ANSWER_GROUPS,
  ...STREAM_GROUPS,
  ...FAULT_GROUPS,
  ...CONCURRENCY_GROUPS,
  ...LOG_GROUPS,
  ...LOADING_GROUPS,
  ...LIFECYCLE_GROUPS,
];
