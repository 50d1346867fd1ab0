import type { IncomingMessage, ServerResponse } from "node:http";
import type { AnswerHeadReader, HeaderList } from "./headers.js";

/** One call to one version. */
export interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly tenant: string;
  readonly requestId: string;
  /** Namespace of the version's workload, and the version's uid. */
  readonly namespace: string;
  readonly versionUid: string;
  readonly timeoutSec: number;
  readonly concurrency: number;
  /** Raw path and query that the function shall see; begins with a slash. */
  readonly path: string;
  readonly host: string;
  /** Headers for the function, already filtered; the platform's are added here. */
  readonly headers: HeaderList;
  /** Value of `x-sless-context`. */
  readonly context: string;
  readonly readHead: AnswerHeadReader;
  /** Headers that are added to the function's answer. */
  readonly answerHeaders: HeaderList;
}
