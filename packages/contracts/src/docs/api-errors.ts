import { PROBLEM_TEXTS } from "../rest/problem-texts.js";
import { PROBLEM_KINDS, type ProblemKind } from "../rest/problem.js";

const makeSection = (kind: ProblemKind): string => {
  const { status, title } = PROBLEM_KINDS[kind];
  const { means, remedy } = PROBLEM_TEXTS[kind];
  return `## ${kind}\n\n${status}, “${title}”. ${means}\n\nWhat to do: ${remedy}\n`;
};

/** docs/api-errors.md: every kind of problem. */
export const makeApiErrorsPage = (): string => `# Errors of the REST API

Generated from \`packages/contracts/src/rest\`; \`pnpm generate\` writes it. The API serves the same text at \`/errors\`.

Every error is \`application/problem+json\` (RFC 9457): \`type\` (\`/errors#<kind>\`), \`title\`, \`status\`, \`detail\` (what
happened, why, what to do), \`error\` (the same text, for older clients), \`request_id\` (also the header
\`x-request-id\`), and where they apply \`errors\` (one \`{pointer, message}\` a field) and \`reason\`.

${(Object.keys(PROBLEM_KINDS) as ProblemKind[]).map(makeSection).join("\n")}`;
