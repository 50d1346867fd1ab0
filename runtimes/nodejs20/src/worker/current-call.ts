import { AsyncLocalStorage } from "node:async_hooks";
import type { Call } from "./call.js";

/** The call that the running code belongs to, across promises, timers and I/O. */
export const currentCall = new AsyncLocalStorage<Call>();
