import { CelError } from "../cel-error.ts";
import type { CelType, CelVariables } from "../cel-type.ts";
import { compilePattern, type Pattern } from "../functions/pattern.ts";
import { patternCost } from "../functions/pattern-cost.ts";
import { LIMITS } from "../limits.ts";
import type { ASTNode } from "../syntax/parse.ts";
import { positionAt } from "../syntax/position.ts";
import type { StaticType } from "../syntax/static-type.ts";
import type { Value } from "../values/values.ts";
import type { Frame } from "./frame.ts";

/** Computes a node's value in one evaluation. */
export type Run = (frame: Frame) => Value;

/** A type-checked node that is ready to run. */
export interface Plan {
  readonly type: StaticType;
  readonly run: Run;
  /** Like `run`, but integers of the input stay numbers. Used by comparisons, for which this is sufficient and faster. */
  readonly runLoosely?: Run;
  /** The value of a literal. */
  readonly constant?: Value;
}

export function constantPlan(type: StaticType, value: Value): Plan {
  return { type, run: () => value, constant: value };
}

interface Local {
  readonly name: string;
  readonly slot: number;
  readonly type: StaticType;
}

/** The state while one expression is planned. */
export class PlanContext {
  readonly source: string;
  readonly variables: CelVariables;
  /** Plans a child node. */
  readonly plan: (node: ASTNode) => Plan;
  slotCount = 0;
  patternCount = 0;
  readonly #locals: Local[] = [];
  #instructionsLeft: number = LIMITS.patternInstructions;
  #wideClassesLeft: number = LIMITS.patternWideClasses;

  constructor(source: string, variables: CelVariables, plan: (node: ASTNode, context: PlanContext) => Plan) {
    this.source = source;
    this.variables = variables;
    this.plan = (node) => plan(node, this);
  }

  /** Creates a type error at a node. */
  error(message: string, node: ASTNode): CelError {
    return new CelError("type", message, positionAt(this.source, node.start));
  }

  /** The declared type of a root variable. */
  declared(name: string): CelType | StaticType | undefined {
    return Object.hasOwn(this.variables, name) ? this.variables[name] : undefined;
  }

  /** Whether a name is not a variable. */
  isUndeclared(name: string): boolean {
    return this.local(name) === undefined && this.declared(name) === undefined;
  }

  /** The innermost comprehension variable with a name. */
  local(name: string): Local | undefined {
    return this.#locals.findLast((local) => local.name === name);
  }

  /** Plans the body of a comprehension, in which its variable is declared. */
  withLocal(name: string, type: StaticType, body: (slot: number) => Plan): Plan {
    const slot = this.#locals.length;
    this.slotCount = Math.max(this.slotCount, slot + 1);
    this.#locals.push({ name, slot, type });
    try {
      return body(slot);
    } finally {
      this.#locals.pop();
    }
  }

  /** Counts a use of `matches`, whose pattern stays in memory for the lifetime of the expression. */
  countPattern(node: ASTNode): void {
    this.patternCount += 1;
    if (this.patternCount > LIMITS.patterns)
      throw this.#limit(`matches() may be used at most ${LIMITS.patterns} times.`, node);
  }

  /** Compiles a literal pattern within the limits for all patterns of the expression. */
  pattern(text: string, node: ASTNode): Pattern {
    const cost = patternCost(text);
    this.#instructionsLeft -= cost.instructions;
    this.#wideClassesLeft -= cost.wideClasses;
    if (text.length > LIMITS.patternLength || this.#instructionsLeft < 0 || this.#wideClassesLeft < 0)
      throw this.#limit("The regular expressions are too long or repeat too much.", node);
    const pattern = compilePattern(text);
    if (pattern === undefined) throw this.error("This is not a regular expression of RE2.", node);
    return pattern;
  }

  #limit(message: string, node: ASTNode): CelError {
    return new CelError("limit", message, positionAt(this.source, node.start));
  }
}
