import { type ASTNode, childrenOf } from "../syntax/parse.ts";
import { BOOL, DYN, elementOf, formatType, listOf, type StaticType } from "../syntax/static-type.ts";
import { mapKeys } from "../values/equality.ts";
import { Failure, kindOf, ListValue, listItem, listLength, type Value } from "../values/values.ts";
import { charge, type Frame } from "./frame.ts";
import type { Plan, PlanContext, Run } from "./plan.ts";
import { notBool, requireBool } from "./plan-logic.ts";

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
      steps: 1 + args.slice(1).reduce((all, arg) => all + weight(arg), 0),
      at: node.start,
    };
    return planBody(node, name, args.slice(1), loop, context);
  });
}

/** How a comprehension walks: one step for every node that it runs for every item. */
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

/** Nodes that run once for every item; an inner comprehension pays for its own. */
function weight(node: ASTNode): number {
  const inside = isComprehension(node) ? [node.args[1]] : childrenOf(node);
  return inside.reduce((all, child) => all + weight(child), 1);
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

/** Walks through a list, or the keys of a map, until a visit ends it; gives what that visit gave. */
function walk(loop: Loop, frame: Frame, visit: (item: Value) => Value | undefined): Value | undefined {
  const range = loop.range(frame);
  if (range instanceof Failure) return range;
  const kind = kindOf(range);
  if (kind === "map") return walkItems(loop, frame, new ListValue(mapKeys(frame, range as object)), visit);
  if (kind === "list") return walkItems(loop, frame, range as object, visit);
  return new Failure(`a ${kind} cannot be walked through`, loop.at);
}

function walkItems(
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

/** `exists` and `all`: one item that decides is enough, whatever failed before it. */
function runQuantifier(loop: Loop, predicate: Run, decides: boolean): Run {
  return (frame) => {
    let failure: Failure | undefined;
    const end = walk(loop, frame, () => {
      const value = predicate(frame);
      if (value === decides) return decides;
      if (value !== !decides) failure ??= notBool(value, loop.at);
      return undefined;
    });
    return end ?? failure ?? !decides;
  };
}

function runExistsOne(loop: Loop, predicate: Run): Run {
  return (frame) => {
    let found = 0;
    const end = walk(loop, frame, () => {
      const value = predicate(frame);
      if (typeof value !== "boolean") return notBool(value, loop.at);
      found += value ? 1 : 0;
      return undefined;
    });
    return end ?? found === 1;
  };
}

/** `map` and `filter`; without a result the item itself is kept. */
function runMap(loop: Loop, condition: Run | undefined, result: Run | undefined): Run {
  return (frame) => {
    const kept: Value[] = [];
    const end = walk(loop, frame, (item) => {
      const wanted = condition === undefined ? true : condition(frame);
      if (wanted === false) return undefined;
      if (wanted !== true) return notBool(wanted, loop.at);
      const value = result === undefined ? item : result(frame);
      if (value instanceof Failure) return value;
      kept.push(value);
      return undefined;
    });
    return end ?? new ListValue(kept);
  };
}
