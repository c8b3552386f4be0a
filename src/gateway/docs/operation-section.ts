import type { MediaType, OpenApiDocument, Parameter, Schema } from "../openapi/index.ts";
import { badge, escapeHtml, prose, richText } from "./page.ts";
import type { PathOperation } from "./path-operation.ts";
import { fieldRow, renderSchemaTable } from "./schema-table.ts";

/** Renders one operation: its request, its response, and a form to try it. */
export function renderOperation(document: OpenApiDocument, pathOperation: PathOperation, root: string): string {
  const { verb, path, operation } = pathOperation;
  const parameters = (operation.parameters ?? []).map((each) => resolved<Parameter>(document, each));
  const body = operation.requestBody?.content["application/json"];
  const deprecated = operation.deprecated ? ` <span class="quiet">deprecated</span>` : "";
  return `<section class="operation" id="${operation.operationId}">
<h2>${escapeHtml(operation.summary)}${deprecated}</h2>
<p class="path">${badge(verb)} <code>${escapeHtml(path)}</code></p>
${richText(withoutSummary(operation))}
${parameterTable(
  "Path and query",
  parameters.filter((each) => each.in !== "header"),
)}
${body === undefined ? "" : `<h3>Request</h3>\n${renderSchemaTable(schemaOf(document, body.schema))}`}
${responseText(document, pathOperation)}
<details class="more"><summary>Headers and errors</summary>
${parameterTable(
  "Headers",
  parameters.filter((each) => each.in === "header"),
)}
${errorList(document, pathOperation, root)}
</details>
${tryForm(pathOperation, parameters, body)}
</section>`;
}

/** The description without its first sentence if that equals the heading. */
function withoutSummary({ summary, description }: PathOperation["operation"]): string {
  return description.startsWith(`${summary}.`) ? description.slice(summary.length + 1).trim() : description;
}

function responseText(document: OpenApiDocument, { operation }: PathOperation): string {
  const response = resolved<{ description: string; content?: Record<string, MediaType> }>(
    document,
    operation.responses["200"] ?? operation.responses["204"] ?? { description: "" },
  );
  const [type, media] = Object.entries(response.content ?? {})[0] ?? [];
  if (type === undefined || media === undefined) return `<h3>Response</h3>\n<p>${prose(response.description)}</p>`;
  const example = media.example ?? Object.values(media.examples ?? {})[0]?.value;
  const shown = typeof example === "string" ? example : JSON.stringify(example, null, 2);
  return `<h3>Response</h3>
<p>${prose(response.description)} <span class="quiet">${escapeHtml(type)}</span></p>
${type === "application/json" ? renderSchemaTable(schemaOf(document, media.schema)) : ""}
${shown === undefined ? "" : `<details class="more"><summary>Example</summary><pre>${escapeHtml(shown)}</pre></details>`}`;
}

function parameterTable(title: string, parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return "";
  const rows = parameters.map(({ name, schema, required, description, in: place }) =>
    fieldRow(name, schema, required || place === "path" ? [] : ["optional"], description),
  );
  return `<h3>${title}</h3>
<div class="scroll"><table class="fields"><tbody>
${rows.join("\n")}
</tbody></table></div>`;
}

function errorList(document: OpenApiDocument, { operation }: PathOperation, root: string): string {
  const errors = Object.entries(operation.responses).filter(([status]) => !/^[23]/.test(status));
  if (errors.length === 0) return "";
  const items = errors.map(([status, each]) => {
    const { description } = resolved<{ description: string }>(document, each);
    return `<li><strong>${status}</strong> ${prose(description)}</li>`;
  });
  return `<h3>Errors</h3>\n<ul>\n${items.join("\n")}\n</ul>\n<p><a href="${root}errors">All error codes</a></p>`;
}

/** The form that sends a request from the page. The script handles its submission. */
function tryForm({ verb, path }: PathOperation, parameters: readonly Parameter[], body?: MediaType): string {
  const inputs = parameters
    .filter((each) => each.in !== "header")
    .map(({ name, in: place, required, description }) => {
      const mandatory = place === "path" || required ? " required" : "";
      return `<label>${escapeHtml(name)} <input name="${escapeHtml(name)}" data-in="${place}" title="${escapeHtml(description)}"${mandatory}></label>`;
    });
  const text = body === undefined ? undefined : JSON.stringify(body.example ?? {}, null, 2);
  const area =
    text === undefined
      ? ""
      : `<label class="body">Body <textarea name="body" rows="${Math.min(14, text.split("\n").length + 1)}" spellcheck="false">${escapeHtml(text)}</textarea></label>`;
  const acceptsKey = parameters.some(({ name }) => name === "Idempotency-Key");
  return `<details class="try"><summary>Try it</summary>
<form data-verb="${verb}" data-path="${escapeHtml(path)}"${acceptsKey ? " data-accepts-key" : ""}>
${[...inputs, area].filter(Boolean).join("\n")}
<p><button>Send</button> <button type="button" class="stop" hidden>Stop</button> <span class="status quiet" role="status"></span></p>
<pre class="curl"></pre>
<pre class="response" hidden></pre>
</form></details>`;
}

function schemaOf(document: OpenApiDocument, schema: Schema): Schema {
  return schema.$ref === undefined ? schema : resolved<Schema>(document, schema as { $ref: string });
}

/** Follows a reference to a component of the document. */
function resolved<T>(document: OpenApiDocument, node: unknown): T {
  const reference = (node as { $ref?: string }).$ref;
  if (reference === undefined) return node as T;
  const [section, name] = reference.split("/").slice(2);
  return document.components[section!]![name!] as T;
}
