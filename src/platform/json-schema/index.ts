/**
 * JSON Schema: the subset that inputs of workflows and connector actions use. A check takes time in proportion to the size of
 * the value and of the schema.
 */
export { integerSchema, listSchema, objectSchema, schemaOfSchemas, textSchema } from "./builders.ts";
export {
  type Complete,
  choice,
  constant,
  defineObject,
  described,
  flag,
  integer,
  type Member,
  type ObjectDefinition,
  object,
  objectOrEmpty,
  objects,
  optional,
  optionalText,
  optionalTexts,
  prose,
  type ReadContext,
  required,
  text,
  texts,
  type ValueOf,
  type ValuesOf,
} from "./members.ts";
export { checkSchema, checkValue } from "./schema.ts";
