import {
  CelError,
  type CelExpression,
  type CelVariables,
  compileCel,
  evaluateCondition,
} from "../../../../platform/cel/index.ts";

/** What there is to say about a condition. */
export interface ConditionReport {
  readonly errors: readonly CelError[];
  readonly variables: readonly string[];
  readonly paths: readonly string[];
  /** Empty when it could not be told. */
  readonly resultType: string;
  /** Whether it holds for the sample, when there is one. */
  readonly result?: boolean;
  /** Why that cannot be told. */
  readonly evaluationError?: CelError;
}

/** What a condition is tried on. */
export type Sample = Readonly<Record<string, unknown>>;

/** Looks at a condition as a rule's author would: what is wrong with it, what it reads, whether it holds. */
export function reportOn(condition: string, variables: CelVariables, sample: Sample | undefined): ConditionReport {
  // An empty condition always holds.
  const { expression, errors } = compiled(condition === "" ? "true" : condition, variables);
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

/** An expression that gives something else than a condition must is known all the same, with what is wrong about it. */
function compiled(source: string, variables: CelVariables): { expression?: CelExpression; errors: CelError[] } {
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
