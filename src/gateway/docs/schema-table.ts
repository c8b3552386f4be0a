import type { OpenApiDocument, Schema } from "../openapi/index.ts";
import type { DescribedOperation } from "./described-operation.ts";
import { escapeHtml, prose } from "./page.ts";

/** The anchor of a type on a service's page. */
export function typeAnchor(name: string): string {
  return `type-${name}`;
}

/** Renders the fields of a schema as a table, or the allowed values of a schema without fields. */
export function renderSchemaTable(schema: Schema): string {
  if (schema.properties === undefined) return `<p>${typeText(schema)}</p>`;
  const required = new Set(schema.required);
  const rows = Object.entries(schema.properties).map(([name, each]) => {
    const notes = [required.has(name) ? "" : "optional", each.readOnly === true ? "read-only" : ""].filter(Boolean);
    return fieldRow(name, each, notes);
  });
  return `<table class="fields"><tbody>\n${rows.join("\n")}\n</tbody></table>`;
}

/** Renders one row of a table of fields or parameters. */
export function fieldRow(
  name: string,
  schema: Schema,
  notes: readonly string[],
  description = schema.description,
): string {
  const about = [description === undefined ? "" : prose(description), rulesText(schema)].filter(Boolean).join(" ");
  const quiet = notes.map((note) => ` <span class="soft">${note}</span>`).join("");
  return `<tr><td><code>${escapeHtml(name)}</code>${quiet}</td><td>${typeText(schema)}</td><td>${about}</td></tr>`;
}

/** Collects the types that operations refer to, directly or through other types, by name. */
export function collectTypes(document: OpenApiDocument, operations: readonly DescribedOperation[]): [string, Schema][] {
  const schemas = document.components.schemas as Readonly<Record<string, Schema>>;
  const found = new Set<string>();
  const visit = (node: unknown, areFields = false): void => {
    if (typeof node !== "object" || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      const name = key === "$ref" ? typeNameOf(String(value)) : undefined;
      if (name === undefined) {
        // A field may have the name of a keyword.
        if (areFields || (key !== "example" && key !== "examples")) visit(value, !areFields && key === "properties");
      } else if (!found.has(name)) {
        found.add(name);
        visit(schemas[name]);
      }
    }
  };
  for (const { object } of operations) visit([object.requestBody, object.responses, object.parameters]);
  return [...found].sort().map((name) => [name, schemas[name]!]);
}

function typeNameOf(reference: string): string | undefined {
  return /^#\/components\/schemas\/(.+)$/.exec(reference)?.[1];
}

/** A short text for a schema's type, with a link if it is a named type. */
function typeText(schema: Schema): string {
  const name = schema.$ref === undefined ? undefined : typeNameOf(schema.$ref);
  if (name !== undefined) return `<a href="#${typeAnchor(name)}">${escapeHtml(name)}</a>`;
  const types = [schema.type ?? "any"].flat().filter((each) => each !== "null");
  if (schema.enum !== undefined) return `one of ${codes(schema.enum)}`;
  if (types.includes("array") && schema.items !== undefined) return `list of ${typeText(schema.items)}`;
  if (typeof schema.additionalProperties === "object") return `map to ${typeText(schema.additionalProperties)}`;
  return escapeHtml([types.join(" or "), schema.format].filter(Boolean).join(", "));
}

const bounds: readonly (readonly [string, string])[] = [
  ["minimum", "at least"],
  ["exclusiveMinimum", "more than"],
  ["maximum", "at most"],
  ["minLength", "minimum length:"],
  ["maxLength", "maximum length:"],
  ["minItems", "minimum number of items:"],
  ["maxItems", "maximum number of items:"],
  ["pattern", "matches"],
  ["default", "default"],
];

/** The constraints of a value as text. */
function rulesText(schema: Schema): string {
  const rules = bounds
    .filter(([keyword]) => schema[keyword] !== undefined)
    .map(([keyword, label]) => `${label} ${codes([schema[keyword]])}`);
  return rules.length === 0 ? "" : `<span class="soft">${rules.join("; ")}</span>`;
}

function codes(values: readonly unknown[]): string {
  return values
    .map((each) => `<code>${escapeHtml(typeof each === "string" ? each || '""' : JSON.stringify(each))}</code>`)
    .join(", ");
}
