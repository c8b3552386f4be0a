import { NAMED_TYPES } from "../functions/conversions.ts";
import type { ASTNode } from "../syntax/parse.ts";
import {
  BOOL,
  compatible,
  DOUBLE,
  DYN,
  elementOf,
  fieldOf,
  formatType,
  INT,
  join,
  listOf,
  mapOf,
  NULL,
  optionalOf,
  STRING,
  type StaticType,
  TYPE,
} from "../syntax/static-type.ts";
import { has, index, indexOptional, select, selectLoosely, selectOptional } from "../values/access.ts";
import { chargeKey, toMapKey } from "../values/equality.ts";
import { Failure, isInt64, ListValue, type MapKey, MapValue, type Value } from "../values/values.ts";
import { constantPlan, type Plan, type PlanContext, type Run } from "./plan.ts";
import { planCall } from "./plan-call.ts";
import { planArithmetic, planEquality, planIn, planNegation, planOrder } from "./plan-compare.ts";
import { planChain, planConditional, planNot } from "./plan-logic.ts";
import { isComprehension, planComprehension } from "./plan-macro.ts";
import { planVariable, readAs } from "./plan-variable.ts";

/** Type-checks a node and creates its plan. Throws CelError of kind type or limit. */
export function planNode(node: ASTNode, context: PlanContext): Plan {
  switch (node.op) {
    case "value":
      return planLiteral(node, context);
    case "id":
      return planIdentifier(node, context);
    case ".":
      return planSelect(node, context);
    case ".?":
      return planOptionalSelect(node, context);
    case "[]":
    case "[?]":
      return planIndex(node, context);
    case "list":
      return planList(node, context);
    case "map":
      return planMap(node, context);
    case "&&":
    case "||":
      return planChain(node, context);
    case "!_":
      return planNot(node, context);
    case "-_":
      return planNegation(node, context);
    case "?:":
      return planConditional(node, context);
    case "==":
    case "!=":
      return planEquality(node, context);
    case "in":
      return planIn(node, context);
    case "<":
    case "<=":
    case ">":
    case ">=":
      return planOrder(node, context);
    case "call":
      return node.args[0] === "has" ? planHas(node, context) : planCall(node, context);
    case "rcall":
      return isComprehension(node) ? planComprehension(node, context) : planCall(node, context);
    default:
      return planArithmetic(node, context);
  }
}

function planLiteral(node: ASTNode & { op: "value" }, context: PlanContext): Plan {
  const value = node.args;
  switch (typeof value) {
    case "string":
      return constantPlan(STRING, value);
    case "boolean":
      return constantPlan(BOOL, value);
    case "number":
      return constantPlan(DOUBLE, value);
    case "bigint":
      if (!isInt64(value)) throw context.error("This int is out of range.", node);
      return constantPlan(INT, value);
    default:
      if (value === null) return constantPlan(NULL, null);
      throw context.error("Values of the types uint and bytes are not supported.", node);
  }
}

function planIdentifier(node: ASTNode & { op: "id" }, context: PlanContext): Plan {
  const name = node.args;
  const local = context.local(name);
  if (local !== undefined) return { type: local.type, run: readAs(local.type, (frame) => frame.slots[local.slot]!) };
  const declared = context.declared(name);
  if (declared !== undefined) return planVariable(name, declared, node.start);
  const type = NAMED_TYPES.get(name);
  if (type !== undefined) return constantPlan(TYPE, type);
  throw context.error(`There is no variable '${name}'.`, node);
}

function planSelect(node: ASTNode & { op: "." }, context: PlanContext): Plan {
  const named = namedType(node, context);
  if (named !== undefined) return named;
  const [operandNode, field] = node.args;
  const operand = context.plan(operandNode);
  const type = fieldType(operand.type, node, context);
  const { run } = operand;
  const at = node.pos;
  return {
    type,
    run: readAs(type, (frame) => select(run(frame), field, at)),
    runLoosely: (frame) => selectLoosely(run(frame), field, at),
  };
}

/** A qualified type name such as `google.protobuf.Timestamp`, if `google` is not a variable. */
function namedType(node: ASTNode & { op: "." }, context: PlanContext): Plan | undefined {
  const name = dottedName(node);
  const type = name === undefined ? undefined : NAMED_TYPES.get(name);
  return type !== undefined && context.isUndeclared(name!.split(".")[0]!) ? constantPlan(TYPE, type) : undefined;
}

function dottedName(node: ASTNode): string | undefined {
  if (node.op === "id") return node.args;
  const parent = node.op === "." ? dottedName(node.args[0]) : undefined;
  return parent === undefined ? undefined : `${parent}.${(node as ASTNode & { op: "." }).args[1]}`;
}

function fieldType(operand: StaticType, node: ASTNode & { op: "." | ".?" }, context: PlanContext): StaticType {
  switch (operand.kind) {
    case "dyn":
      return DYN;
    case "map":
      if (compatible(operand.key ?? DYN, STRING)) return fieldOf(operand, node.args[1]);
      break;
    case "optional":
      return optionalOf(fieldType(elementOf(operand), node, context));
    default:
  }
  throw context.error(`A ${formatType(operand)} has no fields.`, node);
}

const asOptional = (type: StaticType): StaticType => (type.kind === "optional" ? type : optionalOf(type));

function planOptionalSelect(node: ASTNode & { op: ".?" }, context: PlanContext): Plan {
  const [operandNode, field] = node.args;
  const operand = context.plan(operandNode);
  const { run } = operand;
  const at = node.pos;
  const type = asOptional(fieldType(operand.type, node, context));
  return {
    type,
    run: readAs(type, (frame) => {
      const value = run(frame);
      return value instanceof Failure ? value : selectOptional(value, field, at);
    }),
  };
}

function planHas(node: ASTNode & { op: "call" }, context: PlanContext): Plan {
  const [argument, ...others] = node.args[1];
  if (argument === undefined || others.length > 0 || (argument.op !== "." && argument.op !== ".?"))
    throw context.error("has() needs a field, as in has(a.b).", node);
  const [operandNode, field] = argument.args;
  const operand = context.plan(operandNode);
  fieldType(operand.type, argument, context);
  const { run } = operand;
  const at = argument.pos;
  return { type: BOOL, run: (frame) => has(run(frame), field, at) };
}

function planIndex(node: ASTNode & { op: "[]" | "[?]" }, context: PlanContext): Plan {
  const operand = context.plan(node.args[0]);
  const key = context.plan(node.args[1]);
  const element = indexedType(operand.type, key, node, context);
  const type = node.op === "[]" ? element : asOptional(element);
  const access = node.op === "[]" ? index : indexOptional;
  const at = node.args[1].start;
  return {
    type,
    run: readAs(type, (frame) => {
      const container = operand.run(frame);
      if (container instanceof Failure) return container;
      const value = key.run(frame);
      if (value instanceof Failure) return value;
      chargeKey(frame, value);
      return access(container, value, at);
    }),
  };
}

function indexedType(operand: StaticType, key: Plan, node: ASTNode, context: PlanContext): StaticType {
  switch (operand.kind) {
    case "dyn":
      return DYN;
    case "list":
      if (key.type.kind === "int" || key.type.kind === "dyn") return elementOf(operand);
      break;
    case "map":
      if (compatible(key.type, operand.key ?? DYN))
        return typeof key.constant === "string" ? fieldOf(operand, key.constant) : elementOf(operand);
      break;
    case "optional":
      return optionalOf(indexedType(elementOf(operand), key, node, context));
    default:
  }
  throw context.error(`A ${formatType(operand)} cannot be indexed with ${formatType(key.type)}.`, node);
}

function planList(node: ASTNode & { op: "list" }, context: PlanContext): Plan {
  const items = node.args.map(context.plan);
  const type = listOf(items.length === 0 ? DYN : items.map((item) => item.type).reduce(join));
  if (items.every((item) => item.constant !== undefined))
    return constantPlan(type, new ListValue(items.map((item) => item.constant!)));
  const runs = items.map((item) => item.run);
  return {
    type,
    run: (frame) => {
      const values: Value[] = [];
      for (const run of runs) {
        const value = run(frame);
        if (value instanceof Failure) return value;
        values.push(value);
      }
      return new ListValue(values);
    },
  };
}

function planMap(node: ASTNode & { op: "map" }, context: PlanContext): Plan {
  const entries = node.args.map(([key, value]) => ({ key: context.plan(key), value: context.plan(value), node: key }));
  for (const { key, node: at } of entries)
    if (![DYN, STRING, INT, BOOL].some((type) => type.kind === key.type.kind))
      throw context.error(`A ${formatType(key.type)} is no key of a map.`, at);
  const covering = (types: readonly StaticType[]): StaticType => (types.length === 0 ? DYN : types.reduce(join));
  return {
    type: mapOf(covering(entries.map(({ key }) => key.type)), covering(entries.map(({ value }) => value.type))),
    run: runMap(entries.map(({ key, value, node: at }) => ({ key: key.run, value: value.run, at: at.start }))),
  };
}

function runMap(entries: readonly { readonly key: Run; readonly value: Run; readonly at: number }[]): Run {
  return (frame) => {
    const built = new Map<MapKey, Value>();
    for (const { key, value, at } of entries) {
      const name = key(frame);
      if (name instanceof Failure) return name;
      const plain = toMapKey(name);
      if (plain === undefined) return new Failure("not a key of a map", at);
      chargeKey(frame, plain);
      if (built.has(plain)) return new Failure(`the key ${String(plain)} is there twice`, at);
      const held = value(frame);
      if (held instanceof Failure) return held;
      built.set(plain, held);
    }
    return new MapValue(built);
  };
}
