import { isJsonObject, type Json, type JsonObject } from "../../../../platform/document/index.ts";
import { segmentsOf } from "../domain/json-pointer.ts";
import type { Action } from "../domain/language/action.ts";
import type { OutputSpec } from "../domain/response-spec.ts";

/** A value that a schema of the subset accepts, with all properties. */
export function sampleValue(schema: Json | undefined, name = "value"): Json {
  if (!isJsonObject(schema)) return name;
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return (schema.enum as readonly Json[])[0]!;
  if (schema.default !== undefined) return schema.default;
  const type = Array.isArray(schema.type) ? (schema.type as readonly Json[])[0] : schema.type;
  switch (type) {
    case "object":
      return sampleObject(schema);
    case "array": {
      const count = Math.max(1, Number(schema.minItems ?? 1));
      return Array.from({ length: count }, () => sampleValue(schema.items, name));
    }
    case "integer":
    case "number":
      return Math.max(1, Number(schema.minimum ?? 1));
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return sampleText(name, Number(schema.minLength ?? 1), Number(schema.maxLength ?? 200));
  }
}

function sampleObject(schema: JsonObject): JsonObject {
  const { properties } = schema;
  if (!isJsonObject(properties)) return { key: "value" };
  return Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, sampleValue(each, name)]));
}

function sampleText(name: string, lengthMin: number, lengthMax: number): string {
  return name.padEnd(lengthMin, "x").slice(0, lengthMax);
}

/** A body from which an action reads all its outputs. */
export function sampleBody({ output, outputSchema, paginate }: Action): Json {
  const root: Node = { members: new Map() };
  if (paginate !== undefined) mark(root, paginate.items, { list: { members: new Map() } });
  if (output !== undefined) collect(root, "", output, outputSchema);
  else if (outputSchema !== undefined) root.value = sampleValue(outputSchema);
  return toJson(root) ?? {};
}

/** A part of a body under construction. */
interface Node {
  members?: Map<string, Node>;
  list?: Node;
  value?: Json;
}

function collect(root: Node, prefix: string, output: OutputSpec, schema: Json | undefined): void {
  const schemaOf = (name: string): Json | undefined =>
    isJsonObject(schema) && isJsonObject(schema.properties) ? schema.properties[name] : undefined;
  switch (output.kind) {
    case "pointer":
      if (output.pointer !== "")
        mark(root, prefix + output.pointer, { value: sampleValue(schema, output.pointer.split("/").at(-1)) });
      return;
    case "list": {
      const element: Node = { members: new Map() };
      collect(element, "", output.each, isJsonObject(schema) ? schema.items : undefined);
      mark(root, prefix + output.pointer, { list: element });
      return;
    }
    case "object":
      for (const [name, each] of output.members) collect(root, prefix, each, schemaOf(name));
      return;
    default:
  }
}

function mark(root: Node, pointer: string, leaf: Node): void {
  let node = root;
  for (const segment of segmentsOf(pointer)) {
    node.members ??= new Map();
    let next = node.members.get(segment);
    if (next === undefined) {
      next = {};
      node.members.set(segment, next);
    }
    node = next;
  }
  Object.assign(node, leaf);
}

function toJson({ value, list, members }: Node): Json | undefined {
  if (value !== undefined) return value;
  if (list !== undefined) return [toJson(list) ?? "item"];
  if (members === undefined) return undefined;
  const entries = [...members].map(([name, each]) => [name, toJson(each) ?? null] as const);
  if (entries.length > 0 && entries.every(([name]) => /^\d+$/.test(name))) {
    return entries.map(([, each]) => each);
  }
  return Object.fromEntries(entries);
}
