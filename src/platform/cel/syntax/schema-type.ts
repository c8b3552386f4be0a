import { isJsonObject, type Json } from "../../document/index.ts";
import { BOOL, DOUBLE, DYN, INT, listOf, mapOf, STRING, type StaticType } from "./static-type.ts";

/** The type of the values that a JSON Schema allows; dynamic if the schema names no type, or several. */
export function typeOfSchema(schema: Json | undefined): StaticType {
  if (!isJsonObject(schema)) return DYN;
  const { type, items, properties, additionalProperties } = schema;
  switch (type) {
    case "integer":
      return INT;
    case "number":
      return DOUBLE;
    case "string":
      return STRING;
    case "boolean":
      return BOOL;
    case "array":
      return listOf(typeOfSchema(items));
    case "object": {
      if (!isJsonObject(properties)) return mapOf(STRING, typeOfSchema(additionalProperties));
      const fields = Object.entries(properties).map(([name, each]) => [name, typeOfSchema(each)]);
      return { ...mapOf(STRING, DYN), fields: Object.fromEntries(fields) };
    }
    default:
      return DYN;
  }
}
