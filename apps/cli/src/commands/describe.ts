import type { FunctionBody } from "@sless/contracts";
import type { Command } from "commander";
import {
  print,
  printFormatted,
  withClient,
  withEndpoint,
  withExamples,
  withOutput,
  type ApiOptions,
} from "../command.js";
import type { OutputOptions } from "../output/format.js";
import { safeText } from "../output/safe-text.js";
import type { Terminal } from "../terminal.js";
import { functionFormatting } from "./functions-table.js";

const LABEL_WIDTH = 14;

/** A page about one function: settings, what serves, and each condition with its reason. */
export const describeFunction = (fn: FunctionBody): string => {
  const { status } = fn;
  const rows: readonly [string, string | undefined][] = [
    ["Name", fn.name],
    ["Namespace", fn.namespace],
    ["Status", status.message === "" ? status.phase : `${status.phase}: ${status.message}`],
    ["URL", status.url ?? "none (an HTTP trigger gives it one)"],
    [
      "Serving",
      status.traffic
        .map(({ version, percent, tag }) => `${percent}% v${version}${tag === undefined ? "" : ` (${tag})`}`)
        .join(", ") || "nothing",
    ],
    ["Newest", status.latest_version === undefined ? undefined : `v${status.latest_version}`],
    ["Runtime", `${fn.runtime}, ${fn.entrypoint}`],
    [
      "Limits",
      `${fn.memory_mb} MiB, ${fn.timeout_sec} s, ${fn.scale.min} instance(s) of ${fn.scale.concurrency} call(s) at once`,
    ],
    ["Environment", Object.keys(fn.env_vars).sort().join(", ") || "none"],
    ["Code", fn.code_digest ?? "none yet"],
    ["Created", fn.created_at],
  ];
  const lines = rows.flatMap(([label, value]) =>
    value === undefined ? [] : [`${`${label}:`.padEnd(LABEL_WIDTH)}${safeText(value)}`],
  );
  const conditions = status.conditions.map(
    ({ type, status: state, reason, message }) =>
      `  ${type.padEnd(LABEL_WIDTH)}${state.padEnd(9)}${reason}${message === "" ? "" : `: ${safeText(message)}`}`,
  );
  return [...lines, "Conditions:", ...conditions].join("\n");
};

export const addDescribe = (program: Command, terminal: Terminal): void => {
  const command = program
    .command("describe <function>")
    .alias("get")
    .description("show one function with its conditions");
  withExamples(withOutput(withEndpoint(command)), ["sless describe hello", "sless describe hello --jq .status.url"]);
  command.action(async (name: string, options: ApiOptions & OutputOptions) => {
    const { value } = await withClient(terminal, options, ({ functions }) =>
      functions.get(name, { signal: terminal.interrupted }),
    );
    if (options.jq === undefined && (options.output ?? "table") === "table") print(terminal, describeFunction(value));
    else await printFormatted(terminal, { item: value }, functionFormatting(Date.now()), options);
  });
};
