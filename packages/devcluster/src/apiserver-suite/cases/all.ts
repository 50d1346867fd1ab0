import type { SuiteCase } from "../story.js";
import { BUILT_IN_CASES } from "./built-in.js";
import { CRUD_CASES } from "./crud.js";
import { CUSTOM_RESOURCE_CASES } from "./custom-resources.js";
import { KUBECTL_CASES } from "./kubectl.js";
import { LIFECYCLE_CASES } from "./lifecycle.js";
import { LIST_CASES, WATCH_CASES } from "./lists-and-watches.js";
import { APPLY_CASES, PATCH_CASES } from "./patches.js";
import { SERVER_CASES } from "./server.js";

/** Every story. */
export const ALL_CASES: readonly SuiteCase[] = [
  // First, since a real namespace controller is slow while definitions come and go.
  ...LIFECYCLE_CASES,
  ...SERVER_CASES,
  ...CRUD_CASES,
  ...LIST_CASES,
  ...WATCH_CASES,
  ...PATCH_CASES,
  ...APPLY_CASES,
  ...BUILT_IN_CASES,
  ...CUSTOM_RESOURCE_CASES,
  ...KUBECTL_CASES,
];
