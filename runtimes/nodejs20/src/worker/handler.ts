import type { FunctionContext } from "./context.js";
import type { FunctionEvent } from "./event.js";

/** What a module exports. A third parameter asks for the callback style of older Lambda functions. */
export type Handler = (
  event: FunctionEvent,
  context: FunctionContext,
  callback?: (error: unknown, result?: unknown) => void,
) => unknown;

/** Calls a handler that declares three parameters: its answer is the callback's, or its promise's if it returns one. */
export const withCallback =
  (handler: Handler): Handler =>
  (event, context) =>
    new Promise((resolve, reject) => {
      const returned = handler(event, context, (error, result) => {
        if (error === null || error === undefined) resolve(result);
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- passed on as the handler gave it
        else reject(error);
      });
      if (isThenable(returned)) returned.then(resolve, reject);
    });

export const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
