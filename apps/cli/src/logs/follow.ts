import { setTimeout as sleep } from "node:timers/promises";
import { ApiError, EndpointError, type SlessClient } from "@sless/client";
import type { LogLine } from "@sless/contracts";
import { UserError } from "../errors.js";

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 8000;
/** A tail whose API stays away for this long gives up. */
const GIVE_UP_MS = 45_000;
/** Lines that may arrive again after a reconnection, since the API is asked from the last line's time on. */
const REMEMBERED = 2000;

export interface FollowOptions {
  readonly name: string;
  readonly tail: number;
  readonly since: string | undefined;
  readonly version: number | undefined;
  readonly signal: AbortSignal;
  readonly warn: (text: string) => void;
}

const identity = ({ time, pod, request_id, message }: LogLine): string =>
  JSON.stringify([time, pod, request_id, message]);

/** Remembers the latest lines, so that none is shown twice. */
const createMemory = () => {
  const seen = new Set<string>();
  return (line: LogLine): boolean => {
    const key = identity(line);
    if (seen.has(key)) return false;
    seen.add(key);
    const [oldest] = seen;
    if (seen.size > REMEMBERED && oldest !== undefined) seen.delete(oldest);
    return true;
  };
};

const isConnectionTrouble = (error: unknown): boolean =>
  error instanceof EndpointError ||
  (error instanceof ApiError && error.status >= 500) ||
  (error instanceof Error && "code" in error);

/** Where a tail is: what to ask for next, and since when its connection is lost. */
interface Position {
  since: string | undefined;
  tail: number;
  lostAt: number | undefined;
  /** Milliseconds to wait before the next connection. */
  pause: number;
}

/** One connection's lines that were not seen before; the position moves on with each. */
async function* readConnection(
  client: SlessClient,
  options: FollowOptions,
  position: Position,
  isNew: (line: LogLine) => boolean,
): AsyncGenerator<LogLine> {
  const { name, version, signal, warn } = options;
  const { since, tail } = position;
  const query = { ...(since === undefined ? {} : { since }), ...(version === undefined ? {} : { version }) };
  for await (const line of client.functions.logs(name, { follow: true, tail, signal, ...query })) {
    if (position.lostAt !== undefined) warn("reconnected");
    Object.assign(position, { since: line.time, tail: REMEMBERED, lostAt: undefined, pause: FIRST_PAUSE_MS });
    if (isNew(line)) yield line;
  }
}

/** Notes that the connection ended; an end that is no trouble of the connection goes on as an error. */
const noteLoss = (error: unknown, position: Position, { name, warn }: FollowOptions): void => {
  if (error !== undefined && !isConnectionTrouble(error)) throw error as Error;
  if (position.lostAt === undefined && error !== undefined)
    warn(`the connection was lost (${(error as Error).message}); trying again`);
  position.lostAt ??= performance.now();
  if (performance.now() - position.lostAt <= GIVE_UP_MS) return;
  throw new UserError(
    `The log of ${name} could not be followed further: the API stayed away for ${GIVE_UP_MS / 1000} s.`,
  );
};

/**
 * Follows a function's log through lost connections: one warning, then the lines go on where they stopped, none twice.
 * @throws UserError when the API stays away for 45 seconds; what the API itself refuses at once
 */
export async function* followLogs(client: SlessClient, options: FollowOptions): AsyncGenerator<LogLine> {
  const { signal } = options;
  const isNew = createMemory();
  const position: Position = { since: options.since, tail: options.tail, lostAt: undefined, pause: FIRST_PAUSE_MS };
  while (!signal.aborted) {
    let trouble: unknown;
    try {
      yield* readConnection(client, options, position, isNew);
    } catch (error) {
      trouble = error;
    }
    if (signal.aborted) return;
    noteLoss(trouble, position, options);
    await sleep(position.pause, undefined, { signal }).catch(() => undefined);
    position.pause = Math.min(position.pause * 2, LONGEST_PAUSE_MS);
  }
}
