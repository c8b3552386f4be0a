import type { MediaType, OpenApiDocument, OperationObject, Parameter, Schema } from "../openapi/index.ts";
import type { DescribedOperation } from "./described-operation.ts";
import { renderExchange } from "./exchange.ts";
import { badge, escapeHtml, prose, richText } from "./page.ts";
import type { RecordSlots } from "./record-slots.ts";
import { fieldRow, renderSchemaTable } from "./schema-table.ts";

/** Renders one operation: its request, its response, samples, and a form to try it. */
export function renderOperation(
  document: OpenApiDocument,
  described: DescribedOperation,
  slots: RecordSlots,
  root: string,
): string {
  const { object, sampled } = described;
  const parameters = parametersOf(document, object);
  const body = object.requestBody?.content["application/json"];
  const deprecated = object.deprecated ? ` <span class="badge">deprecated</span>` : "";
  return `<section class="operation" id="${object.operationId}">
<div class="about">
<h2>${escapeHtml(object.summary)}${deprecated}</h2>
<p class="path">${badge(sampled.verb)} <code>${escapeHtml(sampled.path)}</code></p>
${richText(withoutSummary(object))}
${parameterTable(
  "Path and query",
  parameters.filter((each) => each.in !== "header"),
)}
${body === undefined ? "" : `<h3>Request</h3>\n${renderSchemaTable(schemaOf(document, body.schema))}`}
${responseText(document, object)}
${errorList(document, object, root)}
<details class="more"><summary>Headers</summary>
${parameterTable(
  "Headers",
  parameters.filter((each) => each.in === "header"),
)}
</details>
</div>
${renderExchange(described, parameters, slots)}
</section>`;
}

/** The parameters of an operation, also those that it shares with others. */
export function parametersOf(document: OpenApiDocument, { parameters = [] }: OperationObject): Parameter[] {
  return parameters.map((each) => resolved<Parameter>(document, each));
}

/** The description without its first sentence if that equals the heading. */
function withoutSummary({ summary, description }: OperationObject): string {
  return description.startsWith(`${summary}.`) ? description.slice(summary.length + 1).trim() : description;
}

function responseText(document: OpenApiDocument, object: OperationObject): string {
  const response = resolved<{ description: string; content?: Record<string, MediaType> }>(
    document,
    object.responses["200"] ?? object.responses["204"] ?? { description: "" },
  );
  const [type, media] = Object.entries(response.content ?? {})[0] ?? [];
  if (type === undefined || media === undefined) return `<h3>Response</h3>\n<p>${prose(response.description)}</p>`;
  const example = media.example ?? Object.values(media.examples ?? {})[0]?.value;
  const shown = typeof example === "string" ? example : JSON.stringify(example, null, 2);
  return `<h3>Response</h3>
<p>${prose(response.description)} <span class="soft">${escapeHtml(type)}</span></p>
${type === "application/json" ? renderSchemaTable(schemaOf(document, media.schema)) : ""}
${shown === undefined ? "" : `<details class="more"><summary>Example</summary><pre tabindex="0">${escapeHtml(shown)}</pre></details>`}`;
}

function parameterTable(title: string, parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return "";
  const rows = parameters.map(({ name, schema, required, description, in: place }) =>
    fieldRow(name, schema, required || place === "path" ? [] : ["optional"], description),
  );
  return `<h3>${title}</h3>
<table class="fields"><tbody>
${rows.join("\n")}
</tbody></table>`;
}

/** The error codes of an operation, each with a link to its page. */
function errorList(document: OpenApiDocument, { responses }: OperationObject, root: string): string {
  const codes = Object.entries(responses)
    .filter(([status]) => !/^[23]/.test(status))
    .flatMap(([, each]) => {
      const { content } = resolved<{ content?: Record<string, MediaType> }>(document, each);
      return Object.keys(content?.["application/problem+json"]?.examples ?? {});
    });
  if (codes.length === 0) return "";
  const links = codes.map((code) => `<a href="${root}errors/${code}">${code}</a>`);
  return `<details class="more"><summary>Errors</summary>\n<p class="codes">${links.join(" ")}</p>\n</details>`;
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
