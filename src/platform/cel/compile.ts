import { createHash } from "node:crypto";
import { BoundedCache } from "../cache/bounded-cache.ts";
import { shareOf } from "../process-share/process-share.ts";
import { CelError } from "./cel-error.ts";
import type { CelType, CelVariables } from "./cel-type.ts";
import { type CelExpression, PlannedExpression, type WorkMeter } from "./expression.ts";
import type { StaticType } from "./syntax/static-type.ts";

// About 25 MB of the machine, or thousands of typical conditions. Callers that evaluate often hold on to the expression and need no cache.
const CACHED_WEIGHT_MAX = 500_000;

const cache = new BoundedCache<string, PlannedExpression>(() => shareOf(CACHED_WEIGHT_MAX));
const signatures = new WeakMap<CelVariables, string>();
const digests = new WeakMap<StaticType, string>();

/** Compiles an expression and type-checks it against its variables. Results are cached. Throws CelError of kind syntax, type or limit. */
export function compileCel(source: string, variables: CelVariables, expected?: CelType): CelExpression {
  const key = `${signatureOf(variables)}\n${source}`;
  let expression = cache.get(key);
  if (expression === undefined) {
    expression = new PlannedExpression(source, variables);
    cache.set(key, expression, expression.weight);
  }
  if (expected !== undefined && !isAssignable(expression.type, expected))
    throw new CelError("type", `The expression must return ${expected}, not ${expression.type}.`);
  return expression;
}

/** Evaluates a condition; throws CelError of kind type or evaluation if the result is not a boolean. */
export function evaluateCondition(
  expression: CelExpression,
  values: Readonly<Record<string, unknown>>,
  meter?: WorkMeter,
): boolean {
  if (!isAssignable(expression.type, "bool"))
    throw new CelError("type", `A condition must return bool, not ${expression.type}.`);
  const result = expression.evaluate(values, meter);
  if (typeof result === "boolean") return result;
  throw new CelError("evaluation", "The condition did not return a bool.");
}

// An int is accepted where a double is expected.
function isAssignable(type: CelType, expected: CelType): boolean {
  return type === expected || type === "any" || expected === "any" || (type === "int" && expected === "double");
}

function signatureOf(variables: CelVariables): string {
  const known = signatures.get(variables);
  if (known !== undefined) return known;
  const types = Object.entries(variables).map(([name, type]) => [
    name,
    typeof type === "string" ? type : digestOf(type),
  ]);
  const signature = JSON.stringify(types.sort(([a], [b]) => (a! < b! ? -1 : 1)));
  signatures.set(variables, signature);
  return signature;
}

/** A short form of a type for keys of the cache, because the type of a large schema is large. */
function digestOf(type: StaticType): string {
  const digest = digests.get(type) ?? createHash("sha256").update(JSON.stringify(type)).digest("base64");
  digests.set(type, digest);
  return digest;
}
