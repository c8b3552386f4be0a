import type { ASTNode } from "../syntax/parse.ts";
import { BOOL, compatible, formatType, join } from "../syntax/static-type.ts";
import { Failure, kindOf, type Value } from "../values/values.ts";
import type { Plan, PlanContext, Run } from "./plan.ts";

/** Plans a whole chain of `a && b && …` or `a || b || …`. */
export function planChain(node: ASTNode & { op: "&&" | "||" }, context: PlanContext): Plan {
  const parts = chainOf(node, node.op).map((part) => {
    const plan = context.plan(part);
    requireBool(plan, part, context, `'${node.op}'`);
    return { run: plan.run, at: part.start };
  });
  return { type: BOOL, run: node.op === "&&" ? runChain(parts, false) : runChain(parts, true) };
}

// Follows the left operands without recursion, because a chain may be as long as the source allows.
function chainOf(node: ASTNode, op: "&&" | "||"): readonly ASTNode[] {
  const parts: ASTNode[] = [];
  let rest = node;
  while (rest.op === op) {
    const [left, right] = rest.args;
    parts.push(...(right.op === op ? [...chainOf(right, op)].reverse() : [right]));
    rest = left;
  }
  parts.push(rest);
  return parts.reverse();
}

/** Throws a type error if a plan's static type is not bool. */
export function requireBool(plan: Plan, node: ASTNode, context: PlanContext, where: string): void {
  if (!compatible(plan.type, BOOL))
    throw context.error(`${where} needs a bool here, not ${formatType(plan.type)}.`, node);
}

/** The failure for a condition that is not a bool; an existing failure is returned unchanged. */
export function notBoolFailure(value: Value, at: number): Failure {
  return value instanceof Failure ? value : new Failure(`expected a bool, found ${kindOf(value)}`, at);
}

/** Runs a chain. One deciding operand is enough, even if earlier operands failed. */
function runChain(parts: readonly { readonly run: Run; readonly at: number }[], decides: boolean): Run {
  const [first, second] = parts;
  if (parts.length === 2) return runPair(first!.run, second!.run, decides, first!.at, second!.at);
  return (frame) => {
    let failure: Failure | undefined;
    for (const part of parts) {
      const value = part.run(frame);
      if (value === decides) return decides;
      if (value !== !decides) failure ??= notBoolFailure(value, part.at);
    }
    return failure ?? !decides;
  };
}

function runPair(first: Run, second: Run, decides: boolean, firstAt: number, secondAt: number): Run {
  const otherwise = !decides;
  return (frame) => {
    const left = first(frame);
    if (left === decides) return decides;
    const right = second(frame);
    if (right === decides) return decides;
    if (left !== otherwise) return notBoolFailure(left, firstAt);
    return right === otherwise ? otherwise : notBoolFailure(right, secondAt);
  };
}

/** Plans `!a`. */
export function planNot(node: ASTNode & { op: "!_" }, context: PlanContext): Plan {
  const plan = context.plan(node.args);
  requireBool(plan, node.args, context, "'!'");
  const { run } = plan;
  const at = node.start;
  return {
    type: BOOL,
    run: (frame) => {
      const value = run(frame);
      return typeof value === "boolean" ? !value : notBoolFailure(value, at);
    },
  };
}

/** Plans `a ? b : c`. */
export function planConditional(node: ASTNode & { op: "?:" }, context: PlanContext): Plan {
  const [condition, yes, no] = node.args.map(context.plan) as [Plan, Plan, Plan];
  requireBool(condition, node.args[0], context, "'? :'");
  if (!compatible(yes.type, no.type)) {
    const found = `${formatType(yes.type)} and ${formatType(no.type)}`;
    throw context.error(`Both branches of '? :' must have one type, not ${found}.`, node);
  }
  const at = node.args[0].start;
  const test = condition.run;
  const choose = (whenTrue: Run, whenFalse: Run): Run => {
    return (frame) => {
      const value = test(frame);
      if (value === true) return whenTrue(frame);
      return value === false ? whenFalse(frame) : notBoolFailure(value, at);
    };
  };
  return {
    type: join(yes.type, no.type),
    run: choose(yes.run, no.run),
    runLoosely: choose(yes.runLoosely ?? yes.run, no.runLoosely ?? no.run),
  };
}
