import type { Json, JsonObject, TextFormat } from "../document/index.ts";
import type { schemaKeywords } from "./schema.ts";

/** The schema of an object with known members. */
export function objectSchema(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: "object", properties, ...(required.length > 0 && { required }), additionalProperties: false };
}

export function listSchema(items: JsonObject, minItems: number, maxItems: number, unique = true): JsonObject {
  return { type: "array", minItems, maxItems, ...(unique && { uniqueItems: true }), items };
}

/** The schema of a whole number. */
export function integerSchema(minimum: number, maximum: number): JsonObject {
  return { type: "integer", minimum, maximum };
}

export function textSchema({ source, lengthMax }: TextFormat): JsonObject {
  return { type: "string", pattern: source, maxLength: lengthMax };
}

/** The schema of the schemas that the subset allows. `self` refers to it. */
export function schemaOfSchemas(self: JsonObject): JsonObject {
  const types = { enum: ["object", "array", "string", "number", "integer", "boolean", "null"] };
  const known: Readonly<Record<(typeof schemaKeywords)[number], Json>> = {
    type: { oneOf: [types, { type: "array", minItems: 1, items: types }] },
    enum: { type: "array", minItems: 1 },
    const: {},
    properties: { type: "object", additionalProperties: self },
    required: { type: "array", items: { type: "string" } },
    additionalProperties: { oneOf: [{ type: "boolean" }, self] },
    items: self,
    minItems: { type: "integer", minimum: 0 },
    maxItems: { type: "integer", minimum: 0 },
    minLength: { type: "integer", minimum: 0 },
    maxLength: { type: "integer", minimum: 0 },
    minimum: { type: "number" },
    maximum: { type: "number" },
    title: { type: "string" },
    description: { type: "string" },
    default: {},
  };
  return objectSchema(known);
}
