/**
 * CEL: the Common Expression Language, as used by all modules.
 *
 * An **expression** is compiled once with the **variables** it may use, and evaluated any number of times on plain values.
 * All work is counted in **steps**, so that a hostile expression, pattern or value ends in a typed error before it affects
 * other callers.
 */
export { CelError, type CelErrorKind, type CelPosition } from "./cel-error.ts";
export type { CelType, CelVariables } from "./cel-type.ts";
export { checkCondition, checkExpression } from "./check-expression.ts";
export { compileCel, evaluateCondition } from "./compile.ts";
export type { CelExpression, WorkMeter } from "./expression.ts";
export {
  compileTemplate,
  elementTypeOf,
  isExpression,
  ResultTooLarge,
  type Template,
  type TemplateValues,
} from "./json-template.ts";
export { typeOfSchema } from "./syntax/schema-type.ts";
