import { API_VARIABLES, CONTROLLER_VARIABLES, GATEWAY_VARIABLES } from "../config/apps.js";
import type { Address, Variable, Variables } from "../config/variables.js";

const escapeCell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");

const isAddress = (value: object): value is Address => "host" in value && "port" in value;

/** What an unset variable means, as text: its default, "required", or nothing. */
const describeDefault = ({ parse }: Variable): string => {
  const result = parse.safeParse(undefined);
  if (!result.success) return "**required**";
  const value = result.data;
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return "–";
  if (typeof value === "object" && value !== null && isAddress(value)) return `\`${value.host}:${value.port}\``;
  return `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
};

const makeRow = ([name, variable]: [string, Variable]): string => {
  const secret = variable.secret === true ? " Secret: never printed." : "";
  const cells = [
    `\`${name}\``,
    `${variable.description}${secret}`,
    describeDefault(variable),
    `\`${variable.example}\``,
  ];
  return `| ${cells.map(escapeCell).join(" | ")} |`;
};

const makeTable = (variables: Variables): string =>
  [
    "| variable | meaning | default | example |",
    "|---|---|---|---|",
    ...Object.entries(variables).map(([name, variable]) => makeRow([name, variable])),
  ].join("\n");

/** docs/configuration.md: every setting of every app. */
export const makeConfigurationPage = (): string => `# Settings

Generated from \`packages/contracts/src/config\`; \`pnpm generate\` writes it.

Each app reads its settings from the environment, once, at its start. A value that can't be used and an unknown
\`SLESS_…\` variable stop the start, with the name, what is wrong and an example.

## API

${makeTable(API_VARIABLES)}

## Controller

${makeTable(CONTROLLER_VARIABLES)}

## Gateway

${makeTable(GATEWAY_VARIABLES)}
`;
