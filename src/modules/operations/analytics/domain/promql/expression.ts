/** The part of PromQL that queries may use, as a tree. It has no place for anything else, so nothing else is rendered. */
export type Expression =
  | { readonly kind: "number"; readonly value: number }
  | Selector
  | { readonly kind: "call"; readonly function: string; readonly args: readonly Expression[] }
  | Aggregation
  | { readonly kind: "negation"; readonly operand: Expression }
  | BinaryExpression;

/** Selects series of a metric; with a window, the values of the last time before each point. */
export interface Selector {
  readonly kind: "selector";
  readonly series: string;
  readonly matchers: readonly LabelMatcher[];
  readonly windowMs: number | undefined;
}

/** A condition on a label. */
export interface LabelMatcher {
  readonly label: string;
  readonly operator: "=" | "!=" | "=~" | "!~";
  readonly value: string;
}

/** Combines series, such as their sum. */
export interface Aggregation {
  readonly kind: "aggregation";
  readonly operator: string;
  /** The number of `topk`, `bottomk` and `quantile`. */
  readonly parameter: Expression | undefined;
  readonly grouping: { readonly mode: "by" | "without"; readonly labels: readonly string[] } | undefined;
  readonly operand: Expression;
}

/** An operator between two expressions. */
export interface BinaryExpression {
  readonly kind: "binary";
  readonly operator: string;
  /** Whether a comparison returns 0 or 1 instead of filtering. */
  readonly isBool: boolean;
  readonly left: Expression;
  readonly right: Expression;
}
