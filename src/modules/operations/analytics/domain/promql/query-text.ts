import { unreachable } from "../../../../../errors/index.ts";
import type { Aggregation, Expression, LabelMatcher, Selector } from "./expression.ts";
import { writeDurationMs, writeNumber, writeString } from "./literals.ts";

/** The matchers that a selector gets besides those of the query. */
export type AddedMatchers = (selector: Selector) => readonly LabelMatcher[];

/** Renders an expression as PromQL. Parentheses make the text independent of the precedence of operators. */
export function renderQuery(expression: Expression, added: AddedMatchers): string {
  const render = (each: Expression): string => renderQuery(each, added);
  switch (expression.kind) {
    case "number":
      return writeNumber(expression.value);
    case "selector":
      return renderSelector(expression, added(expression));
    case "call":
      return `${expression.function}(${expression.args.map(render).join(", ")})`;
    case "aggregation":
      return renderAggregation(expression, render);
    case "negation":
      return `(-${render(expression.operand)})`;
    case "binary": {
      const { operator, isBool, left, right } = expression;
      return `(${render(left)} ${operator}${isBool ? " bool" : ""} ${render(right)})`;
    }
    default:
      return unreachable(expression);
  }
}

function renderSelector({ series, matchers, windowMs }: Selector, added: readonly LabelMatcher[]): string {
  const texts = [...added, ...matchers].map(({ label, operator, value }) => `${label}${operator}${writeString(value)}`);
  return `${series}${texts.length === 0 ? "" : `{${texts.join(",")}}`}${windowMs === undefined ? "" : `[${writeDurationMs(windowMs)}]`}`;
}

function renderAggregation(
  { operator, grouping, parameter, operand }: Aggregation,
  render: (expression: Expression) => string,
): string {
  const groups = grouping === undefined ? "" : ` ${grouping.mode} (${grouping.labels.join(", ")}) `;
  const args = parameter === undefined ? [operand] : [parameter, operand];
  return `${operator}${groups}(${args.map(render).join(", ")})`;
}
