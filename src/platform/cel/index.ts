/**
 * CEL, the Common Expression Language, as every part of the product speaks it.
 *
 * An **expression** is compiled once against the **variables** it may name and evaluated as often as needed over the
 * caller's own plain values. All work is counted in **steps**, so that a hostile expression, pattern or value ends in a
 * typed error before it is noticed by anybody else.
 */
export { CelError, type CelErrorKind, type CelPosition } from "./cel-error.ts";
export type { CelType, CelVariables } from "./cel-type.ts";
export { checkCondition, checkExpression } from "./check-expression.ts";
export { compileCel, evaluateCondition } from "./compile.ts";
export type { CelExpression, WorkMeter } from "./expression.ts";
