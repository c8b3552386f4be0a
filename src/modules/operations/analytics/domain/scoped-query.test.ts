import assert from "node:assert/strict";
import { test } from "node:test";
import { failsWith } from "../../../../../test/harness/context.ts";
import { fc } from "../../../../../test/harness/random.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { MetricDescription } from "../../../../platform/telemetry/index.ts";
import { createCatalogue } from "./catalogue.ts";
import { readString, writeString } from "./promql/literals.ts";
import { scopeQuery } from "./scoped-query.ts";

const tenant = "01JABCDEFGHJKMNPQRSTVWXYZ0" as TenantId;
const described: readonly MetricDescription[] = [
  { name: "runs_total", type: "counter", help: "Runs.", labels: ["status", "origin"], tenantLabel: "tenant_id" },
  { name: "items_total", type: "counter", help: "Items.", labels: [], tenantLabel: "tenant_id" },
  { name: "call_seconds", type: "histogram", help: "Calls.", labels: ["code"], tenantLabel: undefined },
];
const scoped = createCatalogue(described, false);
const all = createCatalogue(described, true);
const own = `tenant_id="${tenant}"`;
const scope = (query: string, catalogue = scoped) => scopeQuery(query, tenant, catalogue);

test("every selector gets the tenant's matcher, and the text is rendered anew", () => {
  const table = [
    ["runs_total", `runs_total{${own}}`],
    ["runs_total {  }", `runs_total{${own}}`],
    [" runs_total{status = 'failed',} # every failure", `runs_total{${own},status="failed"}`],
    ["rate(runs_total[1h30m])", `rate(runs_total{${own}}[5400s])`],
    ["SUM(runs_total) BY (status) / 2", `(sum by (status) (runs_total{${own}}) / 2)`],
    ["sum without (origin,) (runs_total)", `sum without (origin) (runs_total{${own}})`],
    ["topk(0x3, runs_total)", `topk(3, runs_total{${own}})`],
    ["-runs_total + 2", `((-runs_total{${own}}) + 2)`],
    ["runs_total > bool 1 and items_total", `((runs_total{${own}} > bool 1) and items_total{${own}})`],
    ["runs_total * -1^2", `(runs_total{${own}} * (-(1 ^ 2)))`],
    ["runs_total * (-1)^2", `(runs_total{${own}} * ((-1) ^ 2))`],
    ["runs_total + 1e9 * -Inf", `(runs_total{${own}} + (1000000000 * (-Inf)))`],
  ];
  for (const [query, rendered] of table) assert.equal(scope(query!), rendered, query);
});

test("a value cannot end the string that it is in", () => {
  const hostile = `"} or items_total{tenant_id="other`;
  const query = `runs_total{status=~${JSON.stringify(hostile)}}`;
  assert.equal(scope(query), `runs_total{${own},status=~"\\"} or items_total{tenant_id=\\"other"}`);
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (value) => {
      assert.equal(readString(writeString(value)), value);
      assert.match(writeString(value), /^"(?:[^"\\\n]|\\.)*"$/);
    }),
  );
});

test("metrics of the deployment are queried as they are, and only if they are allowed", () => {
  assert.throws(() => scope("call_seconds_count"), failsWith("INVALID_ARGUMENT", /not in the catalogue/));
  const query =
    'histogram_quantile(0.9, sum by (le) (rate(call_seconds_bucket{code="OK",le!="+Inf"}[5m]))) + sum(items_total)';
  assert.equal(
    scope(query, all),
    `(histogram_quantile(0.9, sum by (le) (rate(call_seconds_bucket{code="OK",le!="+Inf"}[300s]))) + sum(items_total{${own}}))`,
  );
  assert.throws(
    () => scope("call_seconds", all),
    failsWith("INVALID_ARGUMENT", /call_seconds is not in the catalogue/),
  );
});

const refusals = {
  "not a metric of the catalogue": [
    "up",
    "other_total",
    "{status='a'}",
    '{__name__="runs_total"}',
    '{"runs_total"}',
    "1 + 1",
  ],
  "labels that are not in the catalogue": [
    ...[
      "runs_total{tenant_id='x'}",
      "runs_total{__name__='x'}",
      "runs_total{instance='x'}",
      'runs_total{"status"="x"}',
    ],
    ...["sum by (tenant_id) (runs_total)", "sum by (instance) (runs_total)", "sum without (job) (runs_total)"],
  ],
  "other times and subqueries": [
    "runs_total offset 1h",
    "runs_total @ 1",
    "rate(runs_total[5m:1m])",
    "runs_total[5m]",
    "max_over_time(rate(runs_total[5m])[1h:])",
  ],
  joins: [
    "runs_total * on (status) items_total",
    "runs_total / ignoring (status) items_total",
    "runs_total * on () group_left items_total",
  ],
  "functions that write labels or read others": [
    ...[
      'label_replace(runs_total, "tenant_id", "x", "", "")',
      'label_join(runs_total, "a", ",", "b")',
      'count_values("v", runs_total)',
    ],
    ...["info(runs_total)", "sort(runs_total)", "limitk(1, runs_total)", "foo(runs_total)"],
  ],
  "wrong types": [
    "rate(runs_total)",
    "sum(rate(runs_total[5m])[5m])",
    "runs_total and 1",
    "runs_total + bool 1",
    "sum(1 > 2)",
    "topk(runs_total, 1)",
    "clamp(runs_total)",
    'runs_total + "a"',
    "sum(runs_total, 1)",
    "abs(items_total[5m])",
  ],
  "newer syntax": [
    "rate(runs_total[5m*2])",
    "runs_total * 1_000",
    "runs_total * 5m",
    "rate(runs_total[5m] smoothed)",
    "rate(runs_total[300])",
    "runs_total </ 3",
  ],
  "broken text": [
    "",
    "runs_total{",
    "runs_total{status='a",
    "runs_total}",
    "sum(",
    "rate(runs_total[5m)",
    'runs_total{status="\\q"}',
    'runs_total{status="\\xff"}',
  ],
  sizes: [
    `runs_total{status="${"x".repeat(4096)}"}`,
    `${"(".repeat(30)}runs_total${")".repeat(30)}`,
    Array(11).fill("runs_total").join("+"),
    "rate(runs_total[25h])",
    "rate(runs_total[0s])",
  ],
};
for (const [what, queries] of Object.entries(refusals)) {
  test(`refused: ${what}`, () => {
    for (const query of queries) assert.throws(() => scope(query), failsWith("INVALID_ARGUMENT", /^query: /), query);
  });
}

test("a mistyped metric is corrected", () => {
  assert.throws(() => scope("runs_totl"), failsWith("INVALID_ARGUMENT", /did you mean runs_total\?/));
});
