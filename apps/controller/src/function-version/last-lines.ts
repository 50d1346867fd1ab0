import { RuntimeLogLine } from "@sless/contracts";
import { objectKeyOf, type KubeClient, type Pod } from "@sless/kube";
import { boundedText } from "../status/text.js";

const LINES = 5;
const LINE_LENGTH = 200;
const MAX_BYTES = 16_384;
const TIMEOUT_MS = 2_000;

const textOf = (line: string): string => {
  try {
    const parsed = RuntimeLogLine.safeParse(JSON.parse(line));
    return parsed.success ? parsed.data.message : line;
  } catch {
    return line; // Printed by something else than the supervisor.
  }
};

/** Splits a log into its last lines, as text that is bounded and harmless (security 17). */
export const parseLastLines = (log: string): string[] =>
  log
    .split("\n")
    .map((line) => boundedText(textOf(line), LINE_LENGTH))
    .filter((line) => line !== "")
    .slice(-LINES);

/** Last lines of a pod's run before its crash; none when they can't be had: they only illustrate a condition. */
export const readLastLines = async (
  client: Pick<KubeClient, "podLogs">,
  pod: Pod,
  signal: AbortSignal,
): Promise<string[]> => {
  const { name, namespace = "" } = objectKeyOf(pod);
  try {
    const options = { previous: true, tailLines: 20, limitBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS, signal };
    const stream = await client.podLogs({ name, namespace }, options);
    let log = "";
    for await (const chunk of stream) {
      log += String(chunk);
      if (log.length > MAX_BYTES) break;
    }
    return parseLastLines(log);
  } catch {
    return [];
  }
};
