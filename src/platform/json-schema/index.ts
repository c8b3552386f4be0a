/**
 * JSON Schema: the subset that inputs of workflows and connector actions use. A check takes time in proportion to the size of
 * the value and of the schema.
 */
export { integerSchema, listSchema, objectSchema, schemaOfSchemas, textSchema } from "./builders.ts";
export {
  choice,
  defineObject,
  integer,
  type Member,
  optionalInteger,
  optionalText,
  optionalTexts,
  prose,
  type ReadContext,
  text,
  texts,
  type ValuesOf,
} from "./members.ts";
export { checkSchema, checkValue } from "./schema.ts";
