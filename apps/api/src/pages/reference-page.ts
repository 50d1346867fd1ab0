import { escapeHtml, prose } from "./html.js";
import { renderPage } from "./layout.js";

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}
interface Content {
  readonly schema?: Schema;
  readonly example?: unknown;
}
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description?: string;
  readonly schema: Schema;
}
interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Readonly<Record<string, Content>> }>
  >;
}

/** The parts of an OpenAPI document that the page shows. */
export interface ApiDocument {
  readonly info: { readonly title: string; readonly description: string };
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const describeType = (schema: Schema): string => {
  if (schema.$ref !== undefined) return schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1);
  if (schema.anyOf) return schema.anyOf.map(describeType).join(" or ");
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" or ");
  if (schema.type === "array") return `list of ${describeType(schema.items ?? {})}`;
  return typeof schema.type === "string" ? schema.type : "any";
};

const describeBounds = ({ minimum, maximum, default: fallback }: Schema): string => {
  const bounds = [
    minimum === undefined ? "" : `at least ${minimum}`,
    maximum === undefined ? "" : `at most ${maximum}`,
  ];
  const preset = fallback === undefined ? "" : `default ${JSON.stringify(fallback)}`;
  return [...bounds, preset].filter((part) => part !== "").join(", ");
};

const renderRow = (name: string, schema: Schema, note: string): string =>
  `<tr><td><code>${escapeHtml(name)}</code></td><td>${escapeHtml(describeType(schema))}</td><td>${[
    prose(schema.description ?? ""),
    escapeHtml(describeBounds(schema)),
    escapeHtml(note),
  ]
    .filter((part) => part !== "")
    .join("<br>")}</td></tr>`;

const renderTable = (rows: readonly string[]): string =>
  rows.length === 0
    ? ""
    : `<div class="wide"><table><tr><th>name</th><th>type</th><th></th></tr>${rows.join("")}</table></div>`;

const renderParameter = ({ name, in: place, description, schema }: Parameter): string =>
  renderRow(name, { ...schema, ...(description !== undefined && { description }) }, place);

const renderExample = (example: unknown): string =>
  example === undefined ? "" : `<pre><code>${escapeHtml(JSON.stringify(example, undefined, 2))}</code></pre>`;

const renderBody = (title: string, [mediaType, content]: readonly [string, Content]): string =>
  `<p><strong>${escapeHtml(title)}</strong> <code>${escapeHtml(mediaType)}</code>${
    content.schema?.$ref === undefined ? "" : ` ${renderSchemaLink(content.schema.$ref)}`
  }</p>${renderExample(content.example)}`;

const renderSchemaLink = (ref: string): string => {
  const name = escapeHtml(ref.slice(ref.lastIndexOf("/") + 1));
  return `<a href="#schema-${name}">${name}</a>`;
};

const renderResponse = ([status, { description, content }]: [string, Operation["responses"][string]]): string => {
  const first = Object.entries(content ?? {})[0];
  const isGood = status.startsWith("2");
  return isGood && first
    ? renderBody(`${status} ${description}`, first)
    : `<p><strong>${escapeHtml(status)}</strong> ${prose(description)}</p>`;
};

const renderOperation = (path: string, method: string, operation: Operation): string => {
  const request = Object.entries(operation.requestBody?.content ?? {})[0];
  return `<details id="${escapeHtml(operation.operationId)}">
<summary><span class="method">${escapeHtml(method)}</span> <code>${escapeHtml(path)}</code> ${escapeHtml(operation.summary)}</summary>
${operation.description === undefined ? "" : `<p>${prose(operation.description)}</p>`}
${renderTable((operation.parameters ?? []).map(renderParameter))}
${request ? renderBody("Body", request) : ""}
${Object.entries(operation.responses).map(renderResponse).join("\n")}
</details>`;
};

const renderTag = (document: ApiDocument, tag: string): string => {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tags.includes(tag))
      .map(([method, operation]) => renderOperation(path, method, operation)),
  );
  return `<h2 id="${escapeHtml(tag)}">${escapeHtml(tag)}</h2>${operations.join("\n")}`;
};

const renderSchema = ([name, schema]: [string, Schema]): string => {
  const required = new Set(schema.required);
  const rows = Object.entries(schema.properties ?? {}).map(([field, child]) =>
    renderRow(field, child, required.has(field) ? "required" : ""),
  );
  return `<details id="schema-${escapeHtml(name)}"><summary><code>${escapeHtml(name)}</code></summary>${renderTable(rows)}</details>`;
};

/** `/`: the OpenAPI document for people. */
export const renderReferencePage = (document: ApiDocument): string => {
  const links = document.tags.map(({ name }) => `<li><a href="#${escapeHtml(name)}">${escapeHtml(name)}</a></li>`);
  return renderPage(
    `${document.info.title}: REST API`,
    `<h1>${escapeHtml(document.info.title)}: REST API</h1>
<p>${prose(document.info.description)}</p>
<p>Send <code>Authorization: Bearer &lt;token&gt;</code>. The same as a document: <a href="/openapi.json">/openapi.json</a>. <a href="/errors">Errors</a></p>
<nav aria-label="Sections"><ul>${links.join("")}<li><a href="#bodies">Bodies</a></li></ul></nav>
${document.tags.map(({ name }) => renderTag(document, name)).join("\n")}
<h2 id="bodies">Bodies</h2>
${Object.entries(document.components.schemas).map(renderSchema).join("\n")}`,
  );
};
