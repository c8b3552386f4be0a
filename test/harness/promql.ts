import { parser as grammar } from "@prometheus-io/lezer-promql";

/** What a query reads. */
export interface QueryParts {
  readonly selectors: readonly Selector[];
  /** The labels by which the series of metrics are grouped, with these metrics. */
  readonly groupings: readonly { readonly labels: readonly string[]; readonly metrics: readonly string[] }[];
}

interface Selector {
  readonly metric: string;
  readonly matchers: readonly { readonly label: string; readonly operator: string; readonly value: string }[];
}

const parser = grammar.configure({ strict: true });
type Node = ReturnType<typeof parser.parse>["topNode"];

/** Parses a query of Prometheus; throws if it is not one. */
export function readQuery(query: string): QueryParts {
  const top = parser.parse(query).topNode;
  const text = ({ from, to }: Node) => query.slice(from, to);
  const inside = (node: Node, name: string): Node[] => {
    const found: Node[] = [];
    node.cursor().iterate((each) => {
      if (each.name === name && each.from >= node.from && each.to <= node.to) found.push(each.node);
    });
    return found;
  };
  const metricOf = (selector: Node) => text(selector.getChild("Identifier")!);
  return {
    selectors: inside(top, "VectorSelector").map((selector) => ({
      metric: metricOf(selector),
      matchers: inside(selector, "UnquotedLabelMatcher").map((matcher) => ({
        label: text(matcher.getChild("LabelName")!),
        operator: text(matcher.getChild("MatchOp")!),
        value: text(matcher.getChild("StringLiteral")!).slice(1, -1),
      })),
    })),
    groupings: inside(top, "AggregateExpr").map((aggregation) => ({
      labels: inside(aggregation, "GroupingLabels").flatMap((labels) => inside(labels, "LabelName").map(text)),
      metrics: inside(aggregation, "VectorSelector").map(metricOf),
    })),
  };
}
