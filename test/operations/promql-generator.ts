import { fc } from "../harness/random.ts";

/** A query that depends on the matchers that its selectors begin with. */
export type QueryTemplate = (matchers: string) => string;

const names = {
  routing_decisions_total: ["outcome"],
  workflow_runs_ended_total: ["status"],
  notification_deliveries_total: ["channel", "outcome"],
} as const;

const space = fc.constantFrom("", "", " ", "\n", " # secret-comment\n");
const value = fc.constantFrom("a", "b", "none", "it's", 'say \\"x\\"', "\\u0061", "a|b", ".*", "[ab]");
const matcher = (label: string) =>
  fc.tuple(fc.constantFrom("=", "!=", "=~", "!~"), value).map(([operator, text]) => `${label}${operator}"${text}"`);

/** Selectors with and without braces. */
const selector: fc.Arbitrary<QueryTemplate> = fc
  .constantFrom(...(Object.entries(names) as [string, readonly string[]][]))
  .chain(([name, labels]) =>
    fc.tuple(fc.array(fc.constantFrom(...labels).chain(matcher), { maxLength: 2 }), space).map(([own, blank]) => {
      return (matchers: string) => {
        const inside = [...(matchers === "" ? [] : [matchers]), ...own].join(`,${blank}`);
        return inside === "" ? `${name}${blank}` : `${name}${blank}{${inside}}`;
      };
    }),
  );

const number = fc.constantFrom("1", "0.5", "2e3", "0x1F", "Inf", "-3", ".25", "100");
const window = fc.constantFrom("5m", "90s", "1h", "2m30s", "100000ms").map((text) => `[${text}]`);
const rangeFunction = fc.constantFrom("rate", "increase", "delta", "max_over_time", "avg_over_time", "changes");
const vectorFunction = fc.constantFrom("abs", "ceil", "sgn", "sqrt", "absent", "timestamp");
const aggregation = fc.constantFrom("sum", "avg", "max", "MIN", "count", "group", "stddev");
const grouping = fc.constantFrom("", "by (outcome)", "without (status)", "by ()", "by (channel, outcome,)");
const operator = fc.constantFrom("+", "-", "*", "/", "%", "^", ">", "<=", "== bool", "!= bool", "and", "or", "unless");

const join = (parts: readonly (string | QueryTemplate)[]): QueryTemplate => {
  return (matchers) => parts.map((part) => (typeof part === "string" ? part : part(matchers))).join("");
};

/**
 * Queries that the service should understand, unless they group by a label that no selected metric has. topk is missing: which
 * of several equal series it returns is not determined.
 */
export const validQuery: fc.Arbitrary<QueryTemplate> = fc.letrec<{ vector: QueryTemplate }>((tie) => ({
  vector: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    selector,
    fc
      .tuple(rangeFunction, selector, window, space)
      .map(([name, over, length, blank]) => join([name, "(", blank, over, length, ")"])),
    fc.tuple(vectorFunction, tie("vector")).map(([name, arg]) => join([name, "(", arg, ")"])),
    fc.tuple(aggregation, grouping, tie("vector")).map(([name, by, arg]) => join([name, " ", by, "(", arg, ")"])),
    fc
      .tuple(fc.constant("quantile"), number, tie("vector"))
      .map(([name, nth, arg]) => join([name, "(", nth, ",", arg, ")"])),
    fc
      .tuple(tie("vector"), operator, tie("vector"))
      .map(([left, between, right]) => join([left, " ", between, " ", right])),
    fc
      .tuple(tie("vector"), fc.constantFrom("+", "*", "^", "> bool"), number)
      .map(([left, between, right]) => join([left, " ", between, " ", right])),
    fc
      .tuple(fc.constantFrom("-", "+", ""), tie("vector"), space)
      .map(([sign, inner, blank]) => join([sign, "(", blank, inner, ")"])),
    fc
      .tuple(number, number, tie("vector"))
      .map(([low, high, inner]) => join(["clamp(", inner, ", ", low, ", ", high, ")"])),
  ),
})).vector;

const foreign = "01J0000000000000000FOREIGN";

/** Texts that try to reach other series, and syntax that older stores do not understand. Each is put into a valid query. */
const attacks = [
  `routing_decisions_total{tenant_id="${foreign}"}`,
  'routing_decisions_total{tenant_id=~".+"}',
  'routing_decisions_total{tenant_id!=""}',
  'routing_decisions_total{"tenant_id"=~".+"}',
  `routing_decisions_total{outcome="\\"} or routing_decisions_total{tenant_id=\\"${foreign}"}`,
  `routing_decisions_total{outcome='"} or routing_decisions_total{tenant_id="${foreign}'}`,
  'routing_decisions_total{outcome=`"} or up or routing_decisions_total{outcome="`}',
  '{__name__=~".+"}',
  '{__name__="routing_decisions_total"}',
  '{"routing_decisions_total"}',
  '{"routing_decisions_total", tenant_id=~".+"}',
  "up",
  "ALERTS",
  "prometheus_tsdb_head_series",
  "foreign_only_total",
  "routing_decisions_total offset -1h",
  "routing_decisions_total @ start()",
  "routing_decisions_total @ 1700000000",
  "max_over_time(rate(routing_decisions_total[5m])[1h:1m])",
  "routing_decisions_total[5m:]",
  'label_replace(routing_decisions_total, "tenant_id", "x", "", "")',
  'label_join(routing_decisions_total, "x", "-", "tenant_id")',
  'count_values("tenant_id", routing_decisions_total)',
  "routing_decisions_total * on () group_left (tenant_id) workflow_runs_ended_total",
  "routing_decisions_total * ignoring (tenant_id) workflow_runs_ended_total",
  "sum by (tenant_id) (routing_decisions_total)",
  "sum without (tenant_id) (routing_decisions_total)",
  "sort_by_label(routing_decisions_total, 'tenant_id')",
  "info(routing_decisions_total)",
  'info(routing_decisions_total, {tenant_id=~".+"})',
  "limitk(2, routing_decisions_total)",
  "limit_ratio(0.5, routing_decisions_total)",
  "rate(routing_decisions_total[5m] smoothed)",
  "rate(routing_decisions_total[5m] anchored)",
  "rate(routing_decisions_total[5m * 2])",
  "rate(routing_decisions_total[step()])",
  "rate(routing_decisions_total[max_of(5m, 10m)])",
  "routing_decisions_total + fill(0) workflow_runs_ended_total",
  "routing_decisions_total </ 3",
  "routing_decisions_total * 1_000",
  "routing_decisions_total * 5m",
  "histogram_avg(routing_decisions_total)",
  "double_exponential_smoothing(routing_decisions_total[5m], 0.5, 0.5)",
  "mad_over_time(routing_decisions_total[5m])",
  "ts_of_max_over_time(routing_decisions_total[5m])",
  "start()",
  "absent(up)",
  "vector(1)",
  '"text"',
];

/** Valid queries with an attack in them, or around them. */
export const hostileQuery: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom(...attacks), validQuery, fc.integer({ min: 0, max: 6 }))
  .map(([attack, valid, place]) => {
    const own = valid("");
    const places = [
      ...[attack, `${own} or ${attack}`, `${attack} or ${own}`, `sum(${attack})`],
      ...[`(${own}) unless (${attack})`, `topk(1, ${attack})`, `${own}\n#\n or ${attack}`],
    ];
    return places[place]!;
  });

/** Valid and hostile queries that are cut off, or have characters removed, doubled or replaced. */
export const brokenQuery: fc.Arbitrary<string> = fc
  .tuple(
    fc.oneof(
      validQuery.map((template) => template("")),
      hostileQuery,
    ),
    fc.constantFrom("cut", "remove", "double", "replace", "insert"),
    fc.nat(),
    fc.constantFrom(
      '"',
      "'",
      "`",
      "{",
      "}",
      "[",
      "]",
      "(",
      ")",
      "\\",
      ",",
      "\u0000",
      "é",
      "#",
      "@",
      "=",
      "\n",
      "\ud83d",
    ),
  )
  .map(([text, how, at, character]) => {
    const place = at % Math.max(1, text.length);
    const [before, after] = [text.slice(0, place), text.slice(place)];
    switch (how) {
      case "cut":
        return before;
      case "remove":
        return before + after.slice(1);
      case "double":
        return before + after.slice(0, 1) + after;
      case "replace":
        return before + character + after.slice(1);
      default:
        return before + character + after;
    }
  });
