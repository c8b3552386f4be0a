import type { ASTNode } from "../syntax/parse.ts";
import {
  BOOL,
  compatible,
  DOUBLE,
  DURATION,
  DYN,
  elementOf,
  formatType,
  INT,
  isNumeric,
  join,
  LIST,
  STRING,
  type StaticType,
  TIMESTAMP,
} from "../syntax/static-type.ts";
import { chargeKey, equals, isIn, sameNumber } from "../values/equality.ts";
import {
  type ArithmeticOperator,
  arithmetic,
  divideExactly,
  negate,
  type OrderOperator,
  order,
} from "../values/operators.ts";
import { Failure, isInt64, kindOf, ListValue, type Value } from "../values/values.ts";
import type { Frame } from "./frame.ts";
import { constantPlan, type Plan, type PlanContext, type Run } from "./plan.ts";

type Binary<Op extends string> = ASTNode & { op: Op };

function operands(
  node: Binary<"==" | "!=" | "in" | ArithmeticOperator | OrderOperator>,
  context: PlanContext,
): [Plan, Plan] {
  return [context.plan(node.args[0]), context.plan(node.args[1])];
}

function mismatch(node: ASTNode, left: Plan, right: Plan, context: PlanContext): Error {
  return context.error(
    `'${node.op}' cannot be applied to ${formatType(left.type)} and ${formatType(right.type)}.`,
    node,
  );
}

const loosely = (plan: Plan): Run => plan.runLoosely ?? plan.run;

/** Evaluates both operands, and applies the operator unless one of them failed. */
function binary(left: Run, right: Run, apply: (frame: Frame, a: Value, b: Value) => Value): Run {
  return (frame) => {
    const a = left(frame);
    if (a instanceof Failure) return a;
    const b = right(frame);
    if (b instanceof Failure) return b;
    return apply(frame, a, b);
  };
}

/** Plans `==` and `!=`. */
export function planEquality(node: Binary<"==" | "!=">, context: PlanContext): Plan {
  const [left, right] = operands(node, context);
  if (!compatible(left.type, right.type)) throw mismatch(node, left, right, context);
  const wanted = node.op === "==";
  const [other, constant] = right.constant === undefined ? [right, left.constant] : [left, right.constant];
  const run = equalityWithConstant(loosely(other), constant, wanted);
  if (run !== undefined) return { type: BOOL, run };
  return { type: BOOL, run: binary(loosely(left), loosely(right), (frame, a, b) => equals(frame, a, b) === wanted) };
}

// Most conditions compare with a literal, so this case is optimised.
function equalityWithConstant(run: Run, constant: Value | undefined, wanted: boolean): Run | undefined {
  if (typeof constant === "string" && constant.length <= 64)
    return (frame) => {
      const value = run(frame);
      if (value === constant) return wanted;
      return value instanceof Failure ? value : !wanted;
    };
  if (typeof constant === "bigint" || typeof constant === "number")
    return (frame) => {
      const value = run(frame);
      if (typeof value === "number" || typeof value === "bigint") return sameNumber(value, constant) === wanted;
      return value instanceof Failure ? value : !wanted;
    };
  return undefined;
}

const ORDERED: ReadonlySet<string> = new Set(["bool", "int", "double", "string", "timestamp", "duration", "dyn"]);

/** Plans `<`, `<=`, `>` and `>=`. */
export function planOrder(node: Binary<OrderOperator>, context: PlanContext): Plan {
  const [left, right] = operands(node, context);
  if (!compatible(left.type, right.type) || !ORDERED.has(left.type.kind) || !ORDERED.has(right.type.kind))
    throw mismatch(node, left, right, context);
  const { op, start: at } = node;
  return { type: BOOL, run: binary(loosely(left), loosely(right), (frame, a, b) => order(frame, op, a, b, at)) };
}

/** Plans `in`. */
export function planIn(node: Binary<"in">, context: PlanContext): Plan {
  const [left, right] = operands(node, context);
  const inner = right.type.kind === "map" ? (right.type.key ?? DYN) : elementOf(right.type);
  const container = right.type.kind === "list" || right.type.kind === "map" || right.type.kind === "dyn";
  if (!container || !compatible(left.type, inner)) throw mismatch(node, left, right, context);
  const run = inConstantTexts(loosely(left), right.constant);
  if (run !== undefined) return { type: BOOL, run };
  const at = node.start;
  const missing = (value: Value): Failure => new Failure(`'in' needs a list or a map, not ${kindOf(value)}`, at);
  return {
    type: BOOL,
    run: binary(loosely(left), right.run, (frame, a, b) => isIn(frame, a, b) ?? missing(b)),
  };
}

function inConstantTexts(run: Run, constant: Value | undefined): Run | undefined {
  if (!(constant instanceof ListValue) || !constant.items.every((item) => typeof item === "string")) return undefined;
  const texts: ReadonlySet<Value> = new Set(constant.items);
  return (frame) => {
    const value = run(frame);
    if (value instanceof Failure) return value;
    chargeKey(frame, value);
    return texts.has(value);
  };
}

/** Plans `+`, `-`, `*`, `/` and `%`. */
export function planArithmetic(node: Binary<ArithmeticOperator>, context: PlanContext): Plan {
  const [left, right] = operands(node, context);
  const type = arithmeticType(node.op, left.type, right.type);
  if (type === undefined) throw mismatch(node, left, right, context);
  const { op, start: at } = node;
  const apply: typeof divideExactly =
    op === "/" && type.kind === "dyn" ? divideExactly : (frame, a, b) => arithmetic(frame, op, a, b, at);
  return { type, run: binary(left.run, right.run, (frame, a, b) => apply(frame, a, b, at)) };
}

function arithmeticType(op: ArithmeticOperator, a: StaticType, b: StaticType): StaticType | undefined {
  if (a.kind === "dyn" || b.kind === "dyn") return arithmeticWithDyn(op, a.kind === "dyn" ? b : a);
  const pair = `${a.kind} ${op} ${b.kind}`;
  switch (pair) {
    case "timestamp - timestamp":
      return DURATION;
    case "timestamp + duration":
    case "duration + timestamp":
    case "timestamp - duration":
      return TIMESTAMP;
    case "duration + duration":
    case "duration - duration":
      return DURATION;
    case "string + string":
      return a;
    case "list + list":
      return join(a, b);
    default:
      if (!isNumeric(a) || !isNumeric(b)) return undefined;
      if (a.kind === "int" && b.kind === "int") return INT;
      return op === "%" ? undefined : DOUBLE;
  }
}

function arithmeticWithDyn(op: ArithmeticOperator, known: StaticType): StaticType | undefined {
  switch (known.kind) {
    case "dyn":
    case "int":
      return DYN;
    case "double":
      return op === "%" ? undefined : DOUBLE;
    case "string":
      return op === "+" ? STRING : undefined;
    case "list":
      return op === "+" ? LIST : undefined;
    case "timestamp":
    case "duration":
      return op === "+" || op === "-" ? DYN : undefined;
    default:
      return undefined;
  }
}

/** Plans `-a`; a negative literal is a single number, so that the smallest int can be written. */
export function planNegation(node: ASTNode & { op: "-_" }, context: PlanContext): Plan {
  const inner = node.args;
  if (inner.op === "value" && typeof inner.args === "bigint") {
    if (!isInt64(-inner.args)) throw context.error("This int is out of range.", node);
    return constantPlan(INT, -inner.args);
  }
  const { type, run, constant } = context.plan(inner);
  if (typeof constant === "number") return constantPlan(DOUBLE, -constant);
  if (!compatible(type, INT) && !compatible(type, DOUBLE) && !compatible(type, DURATION))
    throw context.error(`'-' cannot be applied to ${formatType(type)}.`, node);
  const at = node.start;
  return {
    type,
    run: (frame) => {
      const value = run(frame);
      return value instanceof Failure ? value : negate(value, at);
    },
  };
}
