import type { Completions } from "../../../ui/text-editor";
import type { Completion } from "../../../ui/text-editor/completion";
import { placeAt } from "./cursor-place";

/** A JSON Schema, or a part of one. */
export interface Schema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
}

/** What can be written at an offset of a document that must match a schema. */
export function completionsAt(root: Schema, text: string, offset: number): Completions {
  const { path, kind, from, isFlow } = placeAt(text, offset);
  const isJson = text.trimStart().startsWith("{");
  const schemas = path.reduce(
    (current, part) => current.flatMap((schema) => inside(root, schema, part)),
    alternatives(root, root),
  );
  const written = text.slice(from, offset).replace(/^["']/, "").toLowerCase();
  const all = kind === "key" ? keysOf(root, schemas, isJson, isFlow) : valuesOf(schemas, isJson);
  const options = all.filter(({ text: each }) => {
    const plain = each.replace(/^"/, "").toLowerCase();
    return plain.startsWith(written) && plain.replace(/[":\s]+$/, "") !== written;
  });
  return { from, options };
}

/** The schemas that a value may match: those of a reference, and the alternatives. */
function alternatives(root: Schema, schema: Schema): readonly Schema[] {
  const target = schema.$ref === undefined ? undefined : root.$defs?.[schema.$ref.split("/").at(-1)!];
  const others = [...(target ? [target] : []), ...(schema.oneOf ?? []), ...(schema.anyOf ?? [])];
  return [schema, ...others.flatMap((each) => alternatives(root, each))];
}

function inside(root: Schema, schema: Schema, part: string): readonly Schema[] {
  const { properties, items, additionalProperties } = schema;
  const own = properties !== undefined && Object.hasOwn(properties, part) ? properties[part] : undefined;
  const rest = typeof additionalProperties === "object" ? additionalProperties : undefined;
  const found = part === "[]" ? items : (own ?? rest);
  return found === undefined ? [] : alternatives(root, found);
}

function keysOf(root: Schema, schemas: readonly Schema[], isJson: boolean, isFlow: boolean): readonly Completion[] {
  const found = new Map<string, Completion>();
  for (const { properties = {}, required = [] } of schemas) {
    for (const [name, schema] of Object.entries(properties)) {
      const detail = describe(root, schema);
      const text = isJson ? `"${name}": ` : `${name}: `;
      found.set(name, { text, detail: required.includes(name) ? `required ${detail && `· ${detail}`}` : detail });
    }
  }
  const all = [...found.values()];
  // An entry of a list in brackets starts with its own.
  return isFlow || !isJson ? all : [];
}

function valuesOf(schemas: readonly Schema[], isJson: boolean): readonly Completion[] {
  const found = new Map<string, Completion>();
  for (const schema of schemas) {
    const { type, enum: choices = [], examples = [] } = schema;
    const constants = "const" in schema ? [schema.const] : [];
    const flags = type === "boolean" ? [true, false] : [];
    for (const value of [...constants, ...choices, ...flags, ...examples]) {
      const text = isJson || isNumeric(value) ? JSON.stringify(value) : String(value);
      found.set(text, { text, detail: value === schema.default ? "the default" : "" });
    }
  }
  return [...found.values()];
}

/** A text that YAML would read as a number. */
function isNumeric(value: unknown): boolean {
  return typeof value === "string" && /^[\d.]+$/.test(value);
}

function describe(root: Schema, schema: Schema): string {
  const described = alternatives(root, schema).find(({ description }) => description !== undefined);
  if (described?.description !== undefined) return described.description;
  const type = alternatives(root, schema).find((each) => each.type !== undefined)?.type;
  return typeof type === "string" ? type : (type?.join(" or ") ?? "");
}
