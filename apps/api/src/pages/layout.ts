import { createHash } from "node:crypto";
import { escapeHtml } from "./html.js";

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --accent: #0a6cbd; }
@media (prefers-color-scheme: dark) { :root { --accent: #6cb8f5; } }
* { box-sizing: border-box; }
body { font: 16px/1.55 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1.5rem; }
h1 { font-size: 1.8rem; margin: 0 0 .5rem; }
h2 { margin: 2.5rem 0 .5rem; border-bottom: 1px solid var(--line); padding-bottom: .25rem; }
h3 { font-size: 1rem; margin: 0; }
a { color: var(--accent); }
code, pre { font: .88em/1.5 ui-monospace, monospace; }
code { background: var(--soft); padding: .1em .3em; border-radius: 4px; }
pre { background: var(--soft); padding: .75rem; border-radius: 6px; overflow-x: auto; }
pre code { background: none; padding: 0; }
nav ul { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .25rem 1rem; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0; padding: .5rem .75rem; }
summary { cursor: pointer; overflow-wrap: anywhere; }
.method { display: inline-block; min-width: 4.2rem; font: 700 .8rem ui-monospace, monospace; text-transform: uppercase; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0; }
th, td { text-align: left; vertical-align: top; padding: .3rem .5rem; border-bottom: 1px solid var(--line); }
`;

/** The page's own style and nothing else: no script, nothing from elsewhere (security 32). */
export const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** A whole page. `main` is HTML already. */
export const renderPage = (title: string, main: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${main}
</main>
</body>
</html>
`;
