import {
  CelError,
  type CelExpression,
  type CelVariables,
  compileCel,
  evaluateCondition,
} from "../../../../platform/cel/index.ts";

/** The result of analyzing a condition. */
export interface ConditionReport {
  readonly errors: readonly CelError[];
  readonly variables: readonly string[];
  readonly paths: readonly string[];
  /** Empty if the type is unknown. */
  readonly resultType: string;
  /** Whether the condition holds for the sample, if one was given. */
  readonly result?: boolean;
  /** Why the evaluation on the sample failed. */
  readonly evaluationError?: CelError;
}

/** Values on which a condition is evaluated. */
export type Sample = Readonly<Record<string, unknown>>;

/** Analyzes a condition: its errors, the variables it reads, and its result for a sample. */
export function analyzeCondition(
  condition: string,
  variables: CelVariables,
  sample: Sample | undefined,
): ConditionReport {
  // An empty condition always holds.
  const { expression, errors } = compileCondition(condition === "" ? "true" : condition, variables);
  const known = {
    errors,
    variables: expression?.variables ?? [],
    paths: expression?.paths ?? [],
    resultType: expression?.type ?? "",
  };
  if (sample === undefined || expression === undefined || errors.length > 0) return known;
  try {
    return { ...known, result: evaluateCondition(expression, sample) };
  } catch (error) {
    return { ...known, evaluationError: celError(error) };
  }
}

/** Compiles a condition. An expression that is valid but not boolean is returned together with its error. */
function compileCondition(source: string, variables: CelVariables): { expression?: CelExpression; errors: CelError[] } {
  let expression: CelExpression;
  try {
    expression = compileCel(source, variables);
  } catch (error) {
    return { errors: [celError(error)] };
  }
  try {
    return { expression: compileCel(source, variables, "bool"), errors: [] };
  } catch (error) {
    return { expression, errors: [celError(error)] };
  }
}

function celError(error: unknown): CelError {
  if (error instanceof CelError) return error;
  throw error;
}
