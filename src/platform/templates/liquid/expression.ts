import { type Value as ParsedValue, type Token, TypeGuards } from "liquidjs";
import type { Helper, Named } from "../helper.ts";
import type { Notes } from "../plan.ts";
import { TemplateError } from "../template-error.ts";
import { numberOf, orderOf, textOf, unwrapSafe } from "../values.ts";
import { liquidFilters, testFilters } from "./filters.ts";
import type { Evaluate, LiquidLoop, LiquidRun } from "./scope.ts";
import { Blank, Empty, isLiquidTrue, liquidEquals, listOf, propertyOf, Range } from "./values.ts";

/** The use of a value: a missing value is reported if it is written, and not reported if it is only tested. */
export type Use = "written" | "tested";

/** The compile-time state of a Liquid template. */
export interface LiquidScope {
  readonly notes: Notes;
  /** The variables of the enclosing loops, outermost first, with the path of their items. */
  readonly loops: readonly { readonly variable: string; readonly label: string | undefined }[];
  /** Names that the template assigns. */
  readonly assigned: Set<string>;
  /** Paths that it reads, by their first name. Whether that name is assigned is known only after compilation. */
  readonly read: Map<string, Set<string>>;
}

interface FilteredValue {
  readonly initial: { readonly postfix: readonly Token[] };
  readonly filters: readonly { readonly name: string; readonly args: readonly FilterArg[]; readonly token?: Token }[];
}
type FilterArg = Token | readonly [string, Token];
type Property = Token & { readonly variable?: Token; readonly props: readonly Token[] };

/** Compiles a value with its filters. */
export function compileValue(value: ParsedValue | Token, scope: LiquidScope, use: Use): Evaluate {
  const { initial, filters } = value as unknown as FilteredValue;
  const firstUse = filters[0] !== undefined && testFilters.has(filters[0].name) ? "tested" : use;
  let evaluate = compilePostfix(initial.postfix, scope, firstUse);
  for (const { name, args } of filters) evaluate = compileFilter(evaluate, name, args, scope);
  return evaluate;
}

/** The name of a value that is just a top-level name; undefined for any other value. */
export function bareName(value: ParsedValue | Token, scope: LiquidScope): string | undefined {
  const { initial, filters } = value as unknown as FilteredValue;
  const [token] = initial.postfix;
  if (initial.postfix.length !== 1 || token === undefined || !TypeGuards.isPropertyAccessToken(token)) return undefined;
  const { variable, props } = token as Property;
  if (variable !== undefined || props.length !== 1 || filters.some(({ name }) => name !== "raw")) return undefined;
  const name = staticName(props[0]!);
  return name === undefined || scope.loops.some((loop) => loop.variable === name) ? undefined : name;
}

/** The result of a literal condition; undefined if it is known only at render time. */
export function literalCondition(value: ParsedValue): { readonly holds: boolean } | undefined {
  const { initial, filters } = value as unknown as FilteredValue;
  const [token] = initial.postfix;
  if (initial.postfix.length !== 1 || filters.length > 0 || token === undefined) return undefined;
  if (TypeGuards.isNumberToken(token) || TypeGuards.isQuotedToken(token)) return { holds: true };
  if (TypeGuards.isLiteralToken(token)) return { holds: isLiquidTrue(literalOf(token.literal)) };
  return undefined;
}

function compileFilter(value: Evaluate, name: string, args: readonly FilterArg[], scope: LiquidScope): Evaluate {
  const filter = liquidFilters.get(name);
  if (filter === undefined) throw new TemplateError("syntax_error", `There is no filter named ${name.slice(0, 64)}.`);
  const plainArgs: Evaluate[] = [];
  const pairs: (readonly [string, Evaluate])[] = [];
  for (const arg of args) {
    if (Array.isArray(arg)) pairs.push([arg[0] as string, compileToken(arg[1] as Token, scope, "tested")]);
    else plainArgs.push(compileToken(arg as Token, scope, "written"));
  }
  return applyFilter(filter, value, plainArgs, pairs);
}

function applyFilter(
  filter: Helper,
  value: Evaluate,
  args: readonly Evaluate[],
  pairs: readonly (readonly [string, Evaluate])[],
): Evaluate {
  const cost = 3 + args.length + pairs.length;
  return (run) => {
    run.spend(cost);
    const given = [rangeToList(run, value(run))];
    for (const arg of args) given.push(rangeToList(run, arg(run)));
    if (pairs.length === 0) return filter(run, given, noNamedArgs);
    const named: Record<string, unknown> = Object.create(null);
    for (const [key, of] of pairs) named[key] = of(run);
    return filter(run, given, named);
  };
}

const noNamedArgs: Named = Object.freeze(Object.create(null));

/** Converts a range to a list, because filters support only lists. */
function rangeToList(run: LiquidRun, value: unknown): unknown {
  return value instanceof Range ? listOf(run, value) : value;
}

function compilePostfix(tokens: readonly Token[], scope: LiquidScope, use: Use): Evaluate {
  const stack: Evaluate[] = [];
  const operandUse = tokens.length > 1 ? "tested" : use;
  for (const token of tokens) {
    if (!TypeGuards.isOperatorToken(token)) {
      stack.push(compileToken(token, scope, operandUse));
      continue;
    }
    const right = stack.pop() ?? (() => undefined);
    if (token.operator === "not") stack.push((run) => !isLiquidTrue(right(run)));
    else stack.push(operation(token.operator, stack.pop() ?? (() => undefined), right));
  }
  return stack[0] ?? (() => undefined);
}

function operation(operator: string, left: Evaluate, right: Evaluate): Evaluate {
  switch (operator) {
    case "==":
      return (run) => liquidEquals(run, left(run), right(run));
    case "!=":
      return (run) => !liquidEquals(run, left(run), right(run));
    case ">":
      return (run) => orderOf(run, left(run), right(run)) > 0;
    case "<":
      return (run) => orderOf(run, left(run), right(run)) < 0;
    case ">=":
      return (run) => orderOf(run, left(run), right(run)) >= 0;
    case "<=":
      return (run) => orderOf(run, left(run), right(run)) <= 0;
    case "and":
      return (run) => isLiquidTrue(left(run)) && isLiquidTrue(right(run));
    case "or":
      return (run) => isLiquidTrue(left(run)) || isLiquidTrue(right(run));
    case "contains":
      return (run) => contains(run, left(run), right(run));
    default:
      throw new TemplateError("syntax_error", `There is no operator ${operator.slice(0, 16)}.`);
  }
}

function contains(run: LiquidRun, left: unknown, right: unknown): boolean {
  const whole = unwrapSafe(left);
  if (Array.isArray(whole)) return whole.some((item) => liquidEquals(run, item, right));
  if (typeof whole !== "string") return false;
  const wanted = textOf(run, right, "");
  run.chargeSearch(whole, wanted);
  return whole.includes(wanted);
}

/** Compiles a single value: a literal, a path or a range. */
export function compileToken(token: Token, scope: LiquidScope, use: Use): Evaluate {
  if (TypeGuards.isNumberToken(token) || TypeGuards.isQuotedToken(token)) {
    const { content } = token;
    return () => content;
  }
  if (TypeGuards.isLiteralToken(token)) {
    const value = literalOf(token.literal);
    return () => value;
  }
  if (TypeGuards.isRangeToken(token)) return compileRange(token.lhs, token.rhs, scope);
  if (TypeGuards.isPropertyAccessToken(token)) return compilePath(token as unknown as Property, scope, use);
  throw new TemplateError("syntax_error", "This expression is not supported here.");
}

function compileRange(low: Token, high: Token, scope: LiquidScope): Evaluate {
  const from = compileToken(low, scope, "written");
  const to = compileToken(high, scope, "written");
  return (run) => new Range(Math.trunc(numberOf(from(run))), Math.trunc(numberOf(to(run))));
}

function compilePath({ variable, props }: Property, scope: LiquidScope, use: Use): Evaluate {
  return scope.notes.compileNested(undefined, () => {
    const names = props.map(staticName);
    const keys = props.map((prop, index) => {
      const name = names[index];
      return name === undefined ? compileToken(prop, scope, "written") : () => name;
    });
    if (variable !== undefined) return readPath(compileToken(variable, scope, use), keys, "", "tested");
    if (names[0] === "forloop" && scope.loops.length > 0) return forloopMember(names, scope.loops.length - 1);
    const { start, label } = startOf(names[0], keys[0]!, scope);
    const until = names.findIndex((name, index) => index > 0 && name === undefined);
    const known = [label, ...names.slice(1, until < 0 ? undefined : until)].join(".");
    const whole = until < 0 ? known : `${known}[]`;
    const [name] = names;
    if (name !== undefined && label === name && !scope.loops.some((loop) => loop.variable === name)) {
      const paths = scope.read.get(name);
      if (paths === undefined) scope.read.set(name, new Set([known]));
      else paths.add(known);
    }
    return readPath(start, keys.slice(1), whole, use);
  });
}

function startOf(
  name: string | undefined,
  key: Evaluate,
  { loops }: LiquidScope,
): { readonly start: Evaluate; readonly label: string } {
  if (name === undefined) return { start: (run) => readName(run, textOf(run, key(run), "")), label: "[]" };
  const at = loops.findLastIndex(({ variable }) => variable === name);
  if (at >= 0) return { start: (run) => run.loops[at]?.item, label: loops[at]!.label ?? name };
  return { start: (run) => readName(run, name), label: name };
}

/** The value of a name: the one assigned by the template, or the input value. */
function readName(run: LiquidRun, name: string): unknown {
  return run.locals.size > 0 && run.locals.has(name) ? run.locals.get(name) : run.top(name);
}

function readPath(start: Evaluate, keys: readonly Evaluate[], label: string, use: Use): Evaluate {
  const cost = 1 + keys.length;
  return (run) => {
    run.spend(cost);
    let value = start(run);
    for (const key of keys) value = propertyOf(run, value, key(run));
    if (value === undefined && use === "written") run.missing(label);
    return value;
  };
}

function forloopMember(names: readonly (string | undefined)[], innermost: number): Evaluate {
  const member = names.at(-1);
  // In `forloop.parentloop.index` each parentloop refers to the next enclosing loop.
  const at = innermost - names.filter((name) => name === "parentloop").length;
  const read = member === undefined ? undefined : forloop.get(member);
  return (run) => {
    run.spend(1);
    const loop = run.loops[at];
    return loop === undefined ? undefined : read?.(loop);
  };
}

const forloop: ReadonlyMap<string, (loop: LiquidLoop) => unknown> = new Map<string, (loop: LiquidLoop) => unknown>([
  ["index", ({ index }) => index + 1],
  ["index0", ({ index }) => index],
  ["rindex", ({ index, length }) => length - index],
  ["rindex0", ({ index, length }) => length - index - 1],
  ["first", ({ index }) => index === 0],
  ["last", ({ index, length }) => index === length - 1],
  ["length", ({ length }) => length],
]);

function staticName(prop: Token): string | undefined {
  if (TypeGuards.isWordToken(prop) || TypeGuards.isQuotedToken(prop)) return String(prop.content);
  return TypeGuards.isNumberToken(prop) ? String(prop.content) : undefined;
}

function literalOf(literal: string): unknown {
  switch (literal) {
    case "true":
      return true;
    case "false":
      return false;
    case "empty":
      return Empty;
    case "blank":
      return Blank;
    default:
      return null;
  }
}
