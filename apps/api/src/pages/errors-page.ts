import { PROBLEM_KINDS, PROBLEM_TEXTS, type ProblemKind } from "@sless/contracts";
import { escapeHtml, prose } from "./html.js";
import { renderPage } from "./layout.js";

const renderKind = (kind: ProblemKind): string => {
  const { status, title } = PROBLEM_KINDS[kind];
  const { means, remedy } = PROBLEM_TEXTS[kind];
  return `<h2 id="${escapeHtml(kind)}">${escapeHtml(title)}</h2>
<p><code>${status}</code> <code>/errors#${escapeHtml(kind)}</code></p>
<p>${prose(means)}</p>
<p><strong>What to do.</strong> ${prose(remedy)}</p>`;
};

/** `/errors`: where the `type` of every problem leads. */
export const renderErrorsPage = (): string =>
  renderPage(
    "sless: errors",
    `<h1>Errors</h1>
<p>Every error is <code>application/problem+json</code> (RFC 9457). <code>type</code> leads to a paragraph of this page,
<code>request_id</code> is also the header <code>x-request-id</code>. <a href="/">All operations</a></p>
${(Object.keys(PROBLEM_KINDS) as ProblemKind[]).map(renderKind).join("\n")}`,
  );
