/**
 * JSON Schema: the subset that inputs of workflows and connector actions use. A check takes time in proportion to the size of
 * the value and of the schema.
 */
export { checkSchema, checkValue, schemaKeywords } from "./schema.ts";
