import { type Operation, restNameOf } from "../../definitions/index.ts";
import type { Schema } from "../openapi/document.ts";
import type { Components } from "../openapi/schemas/components.ts";
import { collectReachable, createSchemas } from "../openapi/schemas/schemas.ts";

/** Describes the arguments of a tool: the fields of the request under their REST names, and the additional ones. */
export function inputSchemaOf(operation: Operation, additional: Readonly<Record<string, Schema>>): Schema {
  const { input, output } = operation.method;
  const defs = createDefs();
  const schemas = createSchemas(defs, collectReachable([output]));
  const { properties = {}, ...object } = defs.take(schemas.ofMessage(input, "request").$ref!);
  const renamed = Object.entries(properties).map(([name, schema]) => [argumentNameOf(operation, name), schema]);
  return compact({ ...object, properties: { ...Object.fromEntries(renamed), ...additional }, ...defs.section() });
}

/** The argument that sets a field. Only the paging fields of lists have another name than their field. */
function argumentNameOf({ paging }: Operation, field: string): string {
  return paging?.kind === "cursor" ? restNameOf(field) : field;
}

interface Defs extends Components {
  /** Removes a schema and returns it. */
  take(reference: string): Schema;
  /** The remaining schemas, as a member of the schema that refers to them. */
  section(): { $defs?: Record<string, Schema> };
}

/** Collects referenced schemas under `$defs`, because the schema of a tool has no document around it. */
function createDefs(): Defs {
  const schemas: Record<string, Schema> = {};
  return {
    sections: { schemas, parameters: {}, responses: {}, headers: {} },
    ref(_section, name, make) {
      if (!(name in schemas)) {
        // Reserved before it is built, because a message may be recursive.
        schemas[name] = {};
        schemas[name] = make() as Schema;
      }
      return { $ref: `${prefix}${name}` };
    },
    take(reference) {
      const name = reference.slice(prefix.length);
      const taken = schemas[name]!;
      delete schemas[name];
      return taken;
    },
    section: () => (Object.keys(schemas).length === 0 ? {} : { $defs: schemas }),
  };
}

const prefix = "#/$defs/";

/** Members of a schema whose members are schemas under names of their own. */
const named = new Set(["properties", "$defs"]);
const numberFormats: ReadonlySet<unknown> = new Set(["int32", "double"]);

/** Bounds that a refused call explains. */
const bounds: ReadonlySet<string> = new Set(["minLength", "maxLength", "maxItems", "maxProperties", "uniqueItems"]);

/**
 * Removes what a model does not need, because it reads all schemas before it calls anything: titles of messages, widths of
 * numbers, and sizes of texts and lists.
 */
function compact(schema: Schema): Schema {
  const kept = Object.entries(schema).filter(
    ([key, value]) =>
      !bounds.has(key) &&
      !(key === "description" && schema.properties !== undefined) &&
      !(key === "format" && numberFormats.has(value)),
  );
  return Object.fromEntries(kept.map(([key, value]) => [key, named.has(key) ? eachOf(value) : compactValue(value)]));
}

function eachOf(schemas: unknown): unknown {
  const entries = Object.entries(schemas as Record<string, Schema>);
  return Object.fromEntries(entries.map(([name, schema]) => [name, compact(schema)]));
}

function compactValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(compactValue);
  return typeof value === "object" && value !== null ? compact(value as Schema) : value;
}
