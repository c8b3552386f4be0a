import { BoundedCache } from "./cache.ts";
import { CelError } from "./cel-error.ts";
import type { CelType, CelVariables } from "./cel-type.ts";
import { type CelExpression, PlannedExpression, type WorkMeter } from "./expression.ts";

// Some 25 MB: thousands of conditions of the usual size. Who evaluates often keeps the expression and needs no cache.
const CACHED_WEIGHT_MAX = 500_000;

const cache = new BoundedCache<PlannedExpression>(CACHED_WEIGHT_MAX);
const signatures = new WeakMap<CelVariables, string>();

/** Compiles, checked against the variables; cached by (variables, source), bounded. Throws CelError of kind syntax, type or limit. */
export function compileCel(source: string, variables: CelVariables, expected?: CelType): CelExpression {
  const key = `${signatureOf(variables)}\n${source}`;
  let expression = cache.get(key);
  if (expression === undefined) {
    expression = new PlannedExpression(source, variables);
    cache.set(key, expression, expression.weight);
  }
  if (expected !== undefined && !fits(expression.type, expected))
    throw new CelError("type", `The expression must give ${expected}, not ${expression.type}.`);
  return expression;
}

/** evaluate() that must give a boolean; anything else is a CelError of kind type or evaluation. */
export function evaluateCondition(
  expression: CelExpression,
  values: Readonly<Record<string, unknown>>,
  meter?: WorkMeter,
): boolean {
  if (!fits(expression.type, "bool")) throw new CelError("type", `A condition must give bool, not ${expression.type}.`);
  const answer = expression.evaluate(values, meter);
  if (typeof answer === "boolean") return answer;
  throw new CelError("evaluation", "The condition did not give a bool.");
}

// A whole number is as good as any other where a double is wanted.
function fits(type: CelType, expected: CelType): boolean {
  return type === expected || type === "any" || expected === "any" || (type === "int" && expected === "double");
}

function signatureOf(variables: CelVariables): string {
  const known = signatures.get(variables);
  if (known !== undefined) return known;
  const signature = JSON.stringify(Object.entries(variables).sort(([a], [b]) => (a < b ? -1 : 1)));
  signatures.set(variables, signature);
  return signature;
}
