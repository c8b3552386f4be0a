import { FUNCTIONS } from "../functions/functions.ts";
import type { Overload } from "../functions/overload.ts";
import { compileDynamicPattern, type Pattern } from "../functions/pattern.ts";
import type { ASTNode } from "../syntax/parse.ts";
import {
  BOOL,
  compatible,
  DYN,
  elementOf,
  formatType,
  join,
  OPTIONAL,
  STRING,
  type StaticType,
} from "../syntax/static-type.ts";
import { Failure, kindOf, Optional, type Value } from "../values/values.ts";
import { Frame } from "./frame.ts";
import { constantPlan, type Plan, type PlanContext, type Run } from "./plan.ts";

/** Plans a call of a function or method. */
export function planCall(node: ASTNode & { op: "call" | "rcall" }, context: PlanContext): Plan {
  const [name, args] = signatureOf(node, context);
  switch (name) {
    case ".matches":
    case "matches":
      return planMatches(node, args, context);
    case ".or":
    case ".orValue":
      return planFallback(node, name, args, context);
    default: {
      const overloads = FUNCTIONS.get(name);
      if (overloads === undefined) throw context.error(`There is no function ${display(name)}().`, node);
      return planOverloads(node, name, overloads, args.map(context.plan), context);
    }
  }
}

/** The name and arguments of a call; `optional.of(x)` is a namespaced function and not a method of a variable. */
function signatureOf(node: ASTNode & { op: "call" | "rcall" }, context: PlanContext): [string, readonly ASTNode[]] {
  if (node.op === "call") return node.args;
  const [name, receiver, args] = node.args;
  const namespaced = receiver.op === "id" && context.isUndeclared(receiver.args) ? `${receiver.args}.${name}` : "";
  return FUNCTIONS.has(namespaced) ? [namespaced, args] : [`.${name}`, [receiver, ...args]];
}

const display = (name: string): string => (name.startsWith(".") ? name.slice(1) : name);

function noOverload(node: ASTNode, name: string, args: readonly Plan[], context: PlanContext): Error {
  const types = args.map((arg) => formatType(arg.type)).join(", ");
  return context.error(`${display(name)}() cannot be applied to (${types}).`, node);
}

function planOverloads(
  node: ASTNode,
  name: string,
  overloads: readonly Overload[],
  args: readonly Plan[],
  context: PlanContext,
): Plan {
  const candidates = overloads.filter(
    (candidate) =>
      candidate.args.length === args.length && candidate.args.every((type, i) => accepts(type, args[i]!.type)),
  );
  const [only] = candidates;
  if (only === undefined) throw noOverload(node, name, args, context);
  const known = candidates.length === 1 && args.every((arg, i) => isCertain(only.args[i]!, arg.type));
  const apply = known ? only.call : dispatch(candidates, display(name));
  const runs = args.map((arg) => arg.run);
  return foldConstant(name, args, {
    type: candidates.map((candidate) => candidate.result).reduce(join),
    run: runCall(apply as Apply, runs, node.start),
  });
}

/** Evaluates a literal time or duration at compile time; an invalid one fails when it is evaluated. */
function foldConstant(name: string, args: readonly Plan[], plan: Plan): Plan {
  if ((name !== "timestamp" && name !== "duration") || args[0]?.constant === undefined) return plan;
  const value = plan.run(new Frame({}, 0));
  return value instanceof Failure ? plan : constantPlan(plan.type, value);
}

const isCertain = (wanted: StaticType, found: StaticType): boolean =>
  wanted.kind === "dyn" || found.kind === wanted.kind;

const accepts = (wanted: StaticType, found: StaticType): boolean =>
  found.kind === "dyn" || (isCertain(wanted, found) && compatible(wanted, found));

type Apply = (frame: Frame, at: number, ...args: Value[]) => Value;

/** Selects the overload at run time, from the kinds of the values. */
function dispatch(candidates: readonly Overload[], name: string): Apply {
  return (frame, at, ...args) => {
    const kinds = args.map(kindOf);
    for (const { args: wanted, call } of candidates)
      if (wanted.every((type, i) => type.kind === "dyn" || type.kind === kinds[i]))
        return (call as Apply)(frame, at, ...args);
    return new Failure(`${name}() cannot be applied to (${kinds.join(", ")})`, at);
  };
}

function runCall(apply: Apply, args: readonly Run[], at: number): Run {
  const [first, second] = args;
  switch (args.length) {
    case 1:
      return (frame) => {
        const a = first!(frame);
        return a instanceof Failure ? a : apply(frame, at, a);
      };
    case 2:
      return (frame) => {
        const a = first!(frame);
        if (a instanceof Failure) return a;
        const b = second!(frame);
        return b instanceof Failure ? b : apply(frame, at, a, b);
      };
    default:
      return (frame) => {
        const values: Value[] = [];
        for (const arg of args) {
          const value = arg(frame);
          if (value instanceof Failure) return value;
          values.push(value);
        }
        return apply(frame, at, ...values);
      };
  }
}

/** Plans `matches`: a literal pattern is compiled at compile time, a computed one whenever it changes. */
function planMatches(node: ASTNode, args: readonly ASTNode[], context: PlanContext): Plan {
  context.countPattern(node);
  const plans = args.map(context.plan);
  const [text, pattern] = plans;
  if (plans.length !== 2 || text === undefined || pattern === undefined)
    throw noOverload(node, "matches", plans, context);
  if (!compatible(text.type, STRING) || !compatible(pattern.type, STRING))
    throw noOverload(node, "matches", plans, context);
  const patternOf =
    typeof pattern.constant === "string"
      ? constantPattern(context.pattern(pattern.constant, args[1]!))
      : cachedPattern();
  const test: Apply = (frame, at, subject, source) => {
    if (typeof subject !== "string" || typeof source !== "string")
      return new Failure("matches() needs two strings", at);
    const compiled = patternOf(frame, source);
    return compiled === undefined ? new Failure("not a regular expression of RE2", at) : compiled.test(frame, subject);
  };
  return { type: BOOL, run: runCall(test, [text.run, pattern.run], node.start) };
}

type PatternSource = (frame: Frame, source: string) => Pattern | undefined;

const constantPattern =
  (pattern: Pattern): PatternSource =>
  () =>
    pattern;

function cachedPattern(): PatternSource {
  let last: { readonly source: string; readonly pattern: Pattern | undefined } | undefined;
  return (frame, source) => {
    if (last?.source !== source) last = { source, pattern: compileDynamicPattern(frame, source) };
    return last.pattern;
  };
}

/** Plans `a.or(b)` and `a.orValue(b)`, whose second operand is evaluated only if it is needed. */
function planFallback(node: ASTNode, name: string, args: readonly ASTNode[], context: PlanContext): Plan {
  const plans = args.map(context.plan);
  const [optional, fallback] = plans;
  if (plans.length !== 2 || optional === undefined || fallback === undefined)
    throw noOverload(node, name, plans, context);
  const inner = name === ".or" ? optional.type : elementOf(optional.type);
  if (!compatible(optional.type, OPTIONAL) || !compatible(inner, fallback.type))
    throw noOverload(node, name, plans, context);
  const at = node.start;
  const unwrap = name === ".orValue";
  return {
    type: optional.type.kind === "dyn" ? DYN : join(inner, fallback.type),
    run: (frame) => {
      const value = optional.run(frame);
      if (value instanceof Failure) return value;
      if (!(value instanceof Optional))
        return new Failure(`${display(name)}() needs an optional, not ${kindOf(value)}`, at);
      if (value.value === undefined) return fallback.run(frame);
      return unwrap ? value.value : value;
    },
  };
}
