import { type ASTNode, childrenOf } from "../syntax/parse.ts";
import { BOOL, DYN, elementOf, formatType, listOf, type StaticType } from "../syntax/static-type.ts";
import { mapKeys } from "../values/equality.ts";
import { Failure, kindOf, ListValue, listItem, listLength, type Value } from "../values/values.ts";
import { charge, type Frame } from "./frame.ts";
import type { Plan, PlanContext, Run } from "./plan.ts";
import { notBoolFailure, requireBool } from "./plan-logic.ts";

const MACROS: ReadonlySet<string> = new Set([
  "all/2",
  "exists/2",
  "exists_one/2",
  "existsOne/2",
  "map/2",
  "map/3",
  "filter/2",
]);

type MethodCall = ASTNode & { op: "rcall" };

/** Whether a method call is one of the comprehensions. */
export function isComprehension(node: ASTNode): node is MethodCall {
  return node.op === "rcall" && MACROS.has(`${node.args[0]}/${node.args[2].length}`);
}

/** Plans `list.all(x, …)`, `exists`, `exists_one`, `map` and `filter`. */
export function planComprehension(node: MethodCall, context: PlanContext): Plan {
  const [name, rangeNode, args] = node.args;
  const range = context.plan(rangeNode);
  const variable = args[0]!;
  if (variable.op !== "id") throw context.error(`The first argument of ${name}() is the name of a variable.`, variable);
  return context.withLocal(variable.args, itemType(range.type, rangeNode, context), (slot) => {
    const loop: Loop = {
      range: range.run,
      slot,
      steps: 1 + args.slice(1).reduce((all, arg) => all + nodeCount(arg), 0),
      at: node.start,
    };
    return planBody(node, name, args.slice(1), loop, context);
  });
}

/** The loop of a comprehension. It charges one step per node and item. */
interface Loop {
  readonly range: Run;
  readonly slot: number;
  readonly steps: number;
  readonly at: number;
}

function itemType(range: StaticType, node: ASTNode, context: PlanContext): StaticType {
  switch (range.kind) {
    case "dyn":
      return DYN;
    case "list":
      return elementOf(range);
    case "map":
      return range.key ?? DYN;
    default:
      throw context.error(`A ${formatType(range)} cannot be walked through.`, node);
  }
}

/** The number of nodes that run once per item; an inner comprehension charges its own nodes. */
function nodeCount(node: ASTNode): number {
  const inside = isComprehension(node) ? [node.args[1]] : childrenOf(node);
  return inside.reduce((all, child) => all + nodeCount(child), 1);
}

function planBody(node: ASTNode, name: string, args: readonly ASTNode[], loop: Loop, context: PlanContext): Plan {
  const predicateOf = (arg: ASTNode): Run => {
    const plan = context.plan(arg);
    requireBool(plan, arg, context, `${name}()`);
    return plan.run;
  };
  switch (name) {
    case "all":
      return { type: BOOL, run: runQuantifier(loop, predicateOf(args[0]!), false) };
    case "exists":
      return { type: BOOL, run: runQuantifier(loop, predicateOf(args[0]!), true) };
    case "exists_one":
    case "existsOne":
      return { type: BOOL, run: runExistsOne(loop, predicateOf(args[0]!)) };
    case "filter":
      return {
        type: listOf(context.local(variableOf(node))!.type),
        run: runMap(loop, predicateOf(args[0]!), undefined),
      };
    default: {
      const condition = args.length === 2 ? predicateOf(args[0]!) : undefined;
      const result = context.plan(args.at(-1)!);
      return { type: listOf(result.type), run: runMap(loop, condition, result.run) };
    }
  }
}

const variableOf = (node: ASTNode): string => (node as MethodCall).args[2][0]!.args as string;

/** Iterates over a list, or the keys of a map, until a visit returns a value; returns that value. */
function iterate(loop: Loop, frame: Frame, visit: (item: Value) => Value | undefined): Value | undefined {
  const range = loop.range(frame);
  if (range instanceof Failure) return range;
  const kind = kindOf(range);
  if (kind === "map") return iterateItems(loop, frame, new ListValue(mapKeys(frame, range as object)), visit);
  if (kind === "list") return iterateItems(loop, frame, range as object, visit);
  return new Failure(`a ${kind} cannot be walked through`, loop.at);
}

function iterateItems(
  loop: Loop,
  frame: Frame,
  list: object,
  visit: (item: Value) => Value | undefined,
): Value | undefined {
  const length = listLength(list);
  for (let i = 0; i < length; i += 1) {
    charge(frame, loop.steps);
    const item = listItem(list, i);
    if (item === undefined) return new Failure("not a value of CEL", loop.at);
    frame.slots[loop.slot] = item;
    const end = visit(item);
    if (end !== undefined) return end;
  }
  return undefined;
}

/** Runs `exists` and `all`. One deciding item is enough, even if earlier items failed. */
function runQuantifier(loop: Loop, predicate: Run, decides: boolean): Run {
  return (frame) => {
    let failure: Failure | undefined;
    const end = iterate(loop, frame, () => {
      const value = predicate(frame);
      if (value === decides) return decides;
      if (value !== !decides) failure ??= notBoolFailure(value, loop.at);
      return undefined;
    });
    return end ?? failure ?? !decides;
  };
}

function runExistsOne(loop: Loop, predicate: Run): Run {
  return (frame) => {
    let found = 0;
    const end = iterate(loop, frame, () => {
      const value = predicate(frame);
      if (typeof value !== "boolean") return notBoolFailure(value, loop.at);
      found += value ? 1 : 0;
      return undefined;
    });
    return end ?? found === 1;
  };
}

/** Runs `map` and `filter`; without a result expression the item itself is returned. */
function runMap(loop: Loop, condition: Run | undefined, result: Run | undefined): Run {
  return (frame) => {
    const results: Value[] = [];
    const end = iterate(loop, frame, (item) => {
      const wanted = condition === undefined ? true : condition(frame);
      if (wanted === false) return undefined;
      if (wanted !== true) return notBoolFailure(wanted, loop.at);
      const value = result === undefined ? item : result(frame);
      if (value instanceof Failure) return value;
      results.push(value);
      return undefined;
    });
    return end ?? new ListValue(results);
  };
}
