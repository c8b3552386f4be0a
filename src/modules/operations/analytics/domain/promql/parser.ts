import { parser as grammar } from "@prometheus-io/lezer-promql";
import { invalid } from "../../../../../errors/index.ts";
import { limits } from "../limits.ts";
import type { Aggregation, Expression, LabelMatcher, Selector } from "./expression.ts";
import { readDurationMs, readNumber, readString } from "./literals.ts";
import { aggregations, functions, operators } from "./vocabulary.ts";

type Node = ReturnType<typeof parser.parse>["topNode"];

/** Stops at the first error. By default the parser recovers, and would return a guessed tree. */
const parser = grammar.configure({ strict: true });

/** Parses a query into the part of PromQL that is supported; throws INVALID_ARGUMENT for everything else. */
export function parseQuery(query: string): Expression {
  let top: Node;
  try {
    top = parser.parse(query).topNode;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw refuse(
      "syntax",
      "must be PromQL with metrics and functions of the catalogue (GET /api/v1/analytics/catalog)",
    );
  }
  return new TreeReader(query).expression(onlyChild(top), 1);
}

function refuse(rule: string, message: string) {
  return invalid("query", `promql.${rule}`, message);
}

/** Constructs of the grammar that queries may not use, in words. */
const unsupported: Readonly<Record<string, string>> = {
  OffsetExpr: "offset",
  StepInvariantExpr: "@",
  SubqueryExpr: "subqueries",
  AnchoredExpr: "anchored",
  SmoothedExpr: "smoothed",
  StringLiteral: "strings outside of braces",
};

/** Reads the syntax tree of one query. */
class TreeReader {
  readonly #query: string;

  constructor(query: string) {
    this.#query = query;
  }

  expression(node: Node, depth: number): Expression {
    if (depth > limits.depthMax) throw refuse("depth", `must not be nested deeper than ${limits.depthMax} levels`);
    switch (node.name) {
      case "ParenExpr":
        return this.expression(onlyChild(node), depth + 1);
      case "NumberDurationLiteral":
        return this.#number(node);
      case "UnaryExpr":
        return this.#unary(node, depth);
      case "BinaryExpr":
        return this.#binary(node, depth);
      case "AggregateExpr":
        return this.#aggregation(node, depth);
      case "FunctionCall":
        return this.#call(node, depth);
      case "VectorSelector":
        return this.#selector(node, undefined);
      case "MatrixSelector":
        return this.#window(node);
      default:
        throw refuse("unsupported", `must not use ${unsupported[node.name] ?? node.name}: it is not supported`);
    }
  }

  #text({ from, to }: Node): string {
    return this.#query.slice(from, to);
  }

  #number(node: Node): Expression {
    const value = readNumber(this.#text(node));
    if (value === undefined) throw refuse("number", `${this.#text(node)} must be a number such as 100 or 0.5`);
    return { kind: "number", value };
  }

  #unary(node: Node, depth: number): Expression {
    const [sign, operand] = childrenOf(node);
    const read = this.expression(operand!, depth + 1);
    return this.#text(sign!) === "-" ? { kind: "negation", operand: read } : read;
  }

  #binary(node: Node, depth: number): Expression {
    const [left, named, ...rest] = childrenOf(node);
    const operator = operators.get(named!.name);
    if (operator === undefined) throw refuse("operator", `must not use the operator ${this.#text(named!)}`);
    const right = rest.pop()!;
    const modifier = rest.find(({ name }) => name !== "BoolModifier");
    if (modifier !== undefined) {
      throw refuse("matching", `must not use ${this.#text(modifier)}: aggregate both sides to the same labels instead`);
    }
    const isBool = rest.length > 0;
    const parts = { operator: operator.symbol, isBool, right: this.expression(right, depth + 1) };
    const base = this.expression(left!, depth + 1);
    // The grammar reads -1^2 as (-1)^2. Prometheus reads it as -(1^2).
    const isSigned = left!.name === "NumberDurationLiteral" && /^[+-]/.test(this.#text(left!));
    if (operator.symbol !== "^" || !isSigned || base.kind !== "number") return { kind: "binary", ...parts, left: base };
    const power: Expression = { kind: "binary", ...parts, left: { kind: "number", value: Math.abs(base.value) } };
    return this.#text(left!).startsWith("-") ? { kind: "negation", operand: power } : power;
  }

  #call(node: Node, depth: number): Expression {
    const [named, body] = childrenOf(node);
    const name = this.#text(named!);
    if (!functions.has(name)) throw refuse("function", `must not call ${name}: it is not in the catalogue`);
    return { kind: "call", function: name, args: this.#args(body!, depth) };
  }

  #args(body: Node, depth: number): Expression[] {
    return childrenOf(body).map((arg) => this.expression(arg, depth + 1));
  }

  #aggregation(node: Node, depth: number): Aggregation {
    const [named, ...rest] = childrenOf(node);
    const operator = this.#text(named!).toLowerCase();
    const hasParameter = aggregations.get(operator);
    if (hasParameter === undefined) {
      throw refuse("aggregation", `must not use the aggregation ${operator}: it is not in the catalogue`);
    }
    const args = this.#args(rest.find(({ name }) => name === "FunctionCallBody")!, depth);
    if (args.length !== (hasParameter ? 2 : 1)) {
      throw refuse("arguments", hasParameter ? `${operator} needs a number and series` : `${operator} needs series`);
    }
    const modifier = rest.find(({ name }) => name === "AggregateModifier");
    return {
      kind: "aggregation",
      operator,
      parameter: hasParameter ? args[0] : undefined,
      grouping: modifier && this.#grouping(modifier),
      operand: args.at(-1)!,
    };
  }

  #grouping(node: Node): Aggregation["grouping"] {
    const [mode, labels] = childrenOf(node);
    return {
      mode: mode!.name === "By" ? "by" : "without",
      labels: childrenOf(labels!).map((each) => this.#label(each)),
    };
  }

  #label(node: Node): string {
    if (node.name !== "LabelName") throw refuse("label", "must not use quoted names");
    return this.#text(node);
  }

  #window(node: Node): Selector {
    const [selected, length] = childrenOf(node);
    if (selected!.name !== "VectorSelector") throw refuse("window", "a window such as [5m] must follow a metric");
    const windowMs = readDurationMs(this.#text(length!));
    if (windowMs === undefined) throw refuse("window", `[${this.#text(length!)}] must be a duration such as [5m]`);
    if (windowMs === 0 || windowMs > limits.windowMsMax)
      throw refuse("window", "a window must be at most [1d] and not 0");
    return this.#selector(selected!, windowMs);
  }

  #selector(node: Node, windowMs: number | undefined): Selector {
    const [named, matchers] = childrenOf(node);
    if (named?.name !== "Identifier")
      throw refuse("metric", "every selector must begin with a metric of the catalogue");
    const read = matchers === undefined ? [] : childrenOf(matchers).map((each) => this.#matcher(each));
    return { kind: "selector", series: this.#text(named), matchers: read, windowMs };
  }

  #matcher(node: Node): LabelMatcher {
    if (node.name !== "UnquotedLabelMatcher") throw refuse("label", "must not use quoted names");
    const [label, operator, literal] = childrenOf(node);
    const value = readString(this.#text(literal!));
    if (value === undefined)
      throw refuse("string", `${this.#text(literal!)} must be a string in quotes with valid escapes`);
    return { label: this.#label(label!), operator: this.#text(operator!) as LabelMatcher["operator"], value };
  }
}

function childrenOf(node: Node): Node[] {
  const children: Node[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) {
    if (child.name !== "LineComment") children.push(child);
  }
  return children;
}

function onlyChild(node: Node): Node {
  return childrenOf(node)[0]!;
}
