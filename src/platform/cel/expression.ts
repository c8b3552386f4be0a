import { CelError } from "./cel-error.ts";
import type { CelType, CelVariables } from "./cel-type.ts";
import { LIMITS } from "./limits.ts";
import { Frame } from "./plan/frame.ts";
import { type Plan, PlanContext } from "./plan/plan.ts";
import { DECLARED_TYPES } from "./plan/plan-variable.ts";
import { planNode } from "./plan/planner.ts";
import { parse } from "./syntax/parse.ts";
import { positionAt } from "./syntax/position.ts";
import { referencesOf } from "./syntax/references.ts";
import { DYN, elementOf, isJsonType, type StaticType } from "./syntax/static-type.ts";
import { toResult } from "./values/result.ts";
import { Failure, type Value } from "./values/values.ts";

/** A compiled expression. It can be evaluated any number of times. */
export interface CelExpression {
  readonly source: string;
  /** The statically determined type of the result. */
  readonly type: CelType;
  /** The type of the elements if the result is a list of JSON values, as it is after the list was stored as JSON. */
  readonly elementType: StaticType;
  /** The root variables that it uses, sorted. */
  readonly variables: readonly string[];
  /** The dotted paths that it reads, as far as they are static, sorted; for example "item.attributes.region". */
  readonly paths: readonly string[];
  /**
   * Evaluates the expression to a plain JSON-like value; ints are returned as numbers if they are safe integers. Throws
   * CelError of kind evaluation or budget. The steps used are added to the meter, even if it throws.
   */
  evaluate(values: Readonly<Record<string, unknown>>, meter?: WorkMeter): unknown;
}

/** Accumulates the steps of several evaluations. */
export interface WorkMeter {
  steps: number;
}

const EXPRESSION_WEIGHT = 32;
const PATTERN_WEIGHT = 2_000;

/** An expression with its execution plan. */
export class PlannedExpression implements CelExpression {
  readonly source: string;
  readonly type: CelType;
  readonly variables: readonly string[];
  readonly paths: readonly string[];
  /** The estimated memory, in units of about 50 bytes. */
  readonly weight: number;
  readonly #plan: Plan;
  readonly #slotCount: number;

  constructor(source: string, variables: CelVariables) {
    const tree = parse(source);
    const context = new PlanContext(source, variables, planNode);
    this.source = source;
    this.#plan = context.plan(tree);
    this.#slotCount = context.slotCount;
    this.type = celTypeOf(this.#plan.type);
    this.weight = EXPRESSION_WEIGHT + source.length + PATTERN_WEIGHT * context.patternCount;
    const references = referencesOf(tree, (name) => context.declared(name) !== undefined);
    this.variables = references.variables;
    this.paths = references.paths;
  }

  get elementType(): StaticType {
    const element = elementOf(this.#plan.type);
    return this.type === "list" && isJsonType(element) ? element : DYN;
  }

  evaluate(values: Readonly<Record<string, unknown>>, meter?: WorkMeter): unknown {
    const frame = new Frame(values, this.#slotCount);
    try {
      return toResult(frame, this.#run(frame));
    } catch (error) {
      if (error instanceof CelError) throw error;
      throw new CelError("evaluation", "The values cannot be read.", undefined, { cause: error });
    } finally {
      if (meter !== undefined) meter.steps += LIMITS.steps - Math.max(0, frame.steps);
    }
  }

  /** Evaluates to an internal value that retains its CEL type. */
  evaluateTyped(values: Readonly<Record<string, unknown>>): Value {
    return this.#run(new Frame(values, this.#slotCount));
  }

  #run(frame: Frame): Value {
    const value = this.#plan.run(frame);
    if (!(value instanceof Failure)) return value;
    const message = `${value.message.charAt(0).toUpperCase()}${value.message.slice(1)}.`;
    throw new CelError("evaluation", message, positionAt(this.source, value.at), { source: this.source });
  }
}

const CEL_TYPES = Object.entries(DECLARED_TYPES) as [CelType, StaticType][];

function celTypeOf(type: StaticType): CelType {
  return CEL_TYPES.find(([, declared]) => declared.kind === type.kind)?.[0] ?? "any";
}
