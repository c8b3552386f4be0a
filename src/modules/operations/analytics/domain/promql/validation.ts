import { invalid, unreachable } from "../../../../../errors/index.ts";
import { nearestName } from "../../../../../platform/text/index.ts";
import type { Catalogue } from "../catalogue.ts";
import { limits } from "../limits.ts";
import type { Aggregation, BinaryExpression, Expression, Selector } from "./expression.ts";
import { functions, operators, type ValueType } from "./vocabulary.ts";

/** Checks that a query selects only what the catalogue has, and that every function and operator gets what it needs. */
export function validateQuery(expression: Expression, catalogue: Catalogue): void {
  const selectors = selectorsOf(expression);
  if (selectors.length === 0) throw refuse("metric", "must select a metric of the catalogue");
  if (selectors.length > limits.selectorsMax) {
    throw refuse("selectors", `must not have more than ${limits.selectorsMax} selectors`);
  }
  for (const selector of selectors) checkSelector(selector, catalogue);
  const labels = new Set(selectors.flatMap(({ series }) => [...catalogue.series.get(series)!.labels]));
  if (typeOf(expression, labels) === "matrix") {
    throw refuse("type", "must be a number or series at each time: pass a window to a function such as rate");
  }
}

function refuse(rule: string, message: string) {
  return invalid("query", `promql.${rule}`, message);
}

function selectorsOf(expression: Expression): readonly Selector[] {
  switch (expression.kind) {
    case "number":
      return [];
    case "selector":
      return [expression];
    case "call":
      return expression.args.flatMap(selectorsOf);
    case "aggregation":
      return [expression.parameter, expression.operand].flatMap((each) =>
        each === undefined ? [] : selectorsOf(each),
      );
    case "negation":
      return selectorsOf(expression.operand);
    case "binary":
      return [...selectorsOf(expression.left), ...selectorsOf(expression.right)];
    default:
      return unreachable(expression);
  }
}

function checkSelector({ series, matchers }: Selector, catalogue: Catalogue): void {
  const known = catalogue.series.get(series);
  if (known === undefined) {
    const nearest = nearestName(series, [...catalogue.series.keys()]);
    const hint = nearest === undefined ? "see GET /api/v1/analytics/catalog" : `did you mean ${nearest}?`;
    throw refuse("metric", `${series} is not in the catalogue; ${hint}`);
  }
  for (const { label } of matchers) checkLabel(label, known.labels);
}

function checkLabel(label: string, known: ReadonlySet<string>): void {
  if (known.has(label)) return;
  const choices = known.size === 0 ? "it has none" : `choose from ${[...known].join(", ")}`;
  throw refuse("label", `${label} is not a label of the catalogue for this metric; ${choices}`);
}

/** The type of an expression; throws if a part of it has another type than its place needs. */
function typeOf(expression: Expression, labels: ReadonlySet<string>): ValueType {
  switch (expression.kind) {
    case "number":
      return "scalar";
    case "selector":
      return expression.windowMs === undefined ? "vector" : "matrix";
    case "call": {
      const { parameters, optional = 0, result } = functions.get(expression.function)!;
      const count = expression.args.length;
      if (count > parameters.length || count < parameters.length - optional) {
        throw refuse("arguments", `${expression.function} needs ${parameters.length} arguments`);
      }
      for (const [at, arg] of expression.args.entries()) {
        requireType(arg, parameters[at]!, `argument ${at + 1} of ${expression.function}`, labels);
      }
      return result;
    }
    case "aggregation":
      return typeOfAggregation(expression, labels);
    case "negation": {
      const type = typeOf(expression.operand, labels);
      if (type === "matrix") throw refuse("type", "a window cannot be negated");
      return type;
    }
    case "binary":
      return typeOfBinary(expression, labels);
    default:
      return unreachable(expression);
  }
}

function typeOfAggregation(
  { operator, parameter, grouping, operand }: Aggregation,
  labels: ReadonlySet<string>,
): ValueType {
  if (parameter !== undefined) requireType(parameter, "scalar", `the number of ${operator}`, labels);
  for (const label of grouping?.labels ?? []) checkLabel(label, labels);
  requireType(operand, "vector", `the operand of ${operator}`, labels);
  return "vector";
}

function typeOfBinary({ operator, isBool, left, right }: BinaryExpression, labels: ReadonlySet<string>): ValueType {
  const sides = [typeOf(left, labels), typeOf(right, labels)];
  if (sides.includes("matrix")) throw refuse("type", `${operator} cannot be used on a window`);
  const family = [...operators.values()].find(({ symbol }) => symbol === operator)!.family;
  const isScalar = !sides.includes("vector");
  if (family === "set" && sides.includes("scalar")) throw refuse("type", `${operator} needs series on both sides`);
  if (isBool && family !== "comparison") throw refuse("bool", "bool must follow a comparison");
  if (family === "comparison" && isScalar && !isBool) throw refuse("bool", `${operator} between numbers needs bool`);
  return isScalar ? "scalar" : "vector";
}

const typeNames: Readonly<Record<ValueType, string>> = {
  scalar: "a number",
  vector: "series",
  matrix: "series with a window such as [5m]",
};

function requireType(expression: Expression, type: ValueType, place: string, labels: ReadonlySet<string>): void {
  if (typeOf(expression, labels) !== type) throw refuse("type", `${place} must be ${typeNames[type]}`);
}
