import assert from "node:assert/strict";
import { before, test } from "node:test";
import { assertGuideWorks } from "../docs/guide-tests.ts";
import { whyNoPrometheus } from "../harness/prometheus.ts";
import { fc } from "../harness/random.ts";
import { sized } from "../harness/run-size.ts";
import { until } from "../harness/until.ts";
import { inEachProtocol, type ResponseData } from "../routing/tenant-fixture.ts";
import { type AnalyticsFixture, createAnalyticsFixture } from "./analytics-fixture.ts";
import { brokenQuery, hostileQuery, validQuery } from "./promql-generator.ts";

const path = "/api/v1/analytics/query";
let fixture: AnalyticsFixture | undefined;
before(async () => {
  fixture = await createAnalyticsFixture();
});

/** Runs a test with the fixture. A machine without Prometheus says so. */
function staged(name: string, run: (on: AnalyticsFixture) => Promise<void>): void {
  test(name, async (t) => (fixture === undefined ? t.skip(whyNoPrometheus()) : run(fixture)));
}

const matcherOf = ({ own }: AnalyticsFixture) => `tenant_id="${own.id}"`;

/** Asserts that every selector of a query that was sent is restricted to the tenant, and that it has nothing of other texts. */
function assertScoped(on: AnalyticsFixture, query: string): void {
  const own = `tenant_id=0`;
  // Without the contents of strings, braces are those of selectors.
  const plain = query.replaceAll(JSON.stringify(on.own.id), "0").replace(/"(?:[^"\\]|\\.)*"/g, "1");
  const selectors = [...plain.matchAll(/[a-z_]+_total\b(\{[^}]*\})?/g)];
  assert.ok(selectors.length > 0, query);
  for (const [, matchers] of selectors) assert.ok(matchers?.startsWith(`{${own}`), query);
  assert.equal(plain.split(own).length, selectors.length + 1, query);
  assert.equal(plain.split("{").length, selectors.length + 1, query);
  assert.doesNotMatch(plain, /#|@|offset|on \(|ignoring|__name__|:\]/, query);
  assert.ok(!query.includes("secret-comment"), query);
}

/** Sends a query and checks what was sent and what was returned, whatever the query is. */
async function checkedQuery(on: AnalyticsFixture, query: string): Promise<ResponseData> {
  const { status, body } = await on.own.rest.call("POST", path, { query, ...on.range });
  assert.ok(status === 200 || status === 400, `${JSON.stringify(query)} returned ${status} ${JSON.stringify(body)}`);
  if (status === 200) {
    for (const { labels } of body.data.series) {
      for (const [label, value] of Object.entries<string>(labels)) {
        assert.notEqual(label, "tenant_id", query);
        assert.ok(!value.includes("foreign"), query);
      }
    }
  }
  return status === 200 ? body.data : undefined;
}

const cases = sized(60, 2000);
const inParallel = 4;

/** Runs a property over generated queries, some of them at a time. */
async function forAll<T>(arbitrary: fc.Arbitrary<T>, count: number, check: (value: T) => Promise<void>): Promise<void> {
  const groups = fc.array(arbitrary, { minLength: inParallel, maxLength: inParallel });
  const property = fc.asyncProperty(groups, async (group) => void (await Promise.all(group.map(check))));
  await fc.assert(property, { numRuns: Math.ceil(count / inParallel), endOnFailure: true });
}

staged("a valid query returns exactly what Prometheus returns for the tenant's own series", async (on) => {
  let evaluated = 0;
  await forAll(validQuery, 2 * cases, async (template) => {
    const [result, expected] = await Promise.all([checkedQuery(on, template("")), on.direct(template(matcherOf(on)))]);
    // Labels are known only if a selected metric has them.
    if (result === undefined) return;
    evaluated++;
    assert.deepEqual(comparable(result.series), comparableDirect(expected ?? []), template(""));
  });
  assert.ok(evaluated > cases / 2, `${evaluated} were evaluated`);
});

staged("hostile queries and newer syntax never reach a foreign series", async (on) => {
  await forAll(hostileQuery, 2 * cases, async (query) => void (await checkedQuery(on, query)));
});

staged("broken queries are refused or harmless", async (on) => {
  await forAll(brokenQuery, cases, async (query) => void (await checkedQuery(on, query)));
});

staged(
  "everything that was sent to Prometheus was rendered by the service, with the tenant in every selector",
  async (on) => {
    assert.ok(on.sent.length > cases / 2, `${on.sent.length} queries were sent`);
    for (const query of on.sent) assertScoped(on, query);
  },
);

staged("the numbers of a tenant are its own, on every protocol", async (on) => {
  const body = { query: "sum(increase(routing_decisions_total[1h]))", ...on.range };
  for (const [tenant, factor] of [
    [on.own, 1],
    [on.foreign, 1e6],
  ] as const) {
    const { series } = (await tenant.ok("POST", path, body)).data;
    const last = series[0].points.at(-1).value;
    assert.ok(last > 2000 * factor && last < 3000 * factor, `${last}`);
  }
  for (const { code, data, protocol } of await inEachProtocol(
    on.service,
    on.own,
    "AnalyticsService/QueryAnalytics",
    body,
  )) {
    assert.equal(code, "OK", protocol);
    assert.equal(data.executed_query, `sum(increase(routing_decisions_total{${matcherOf(on)}}[3600s]))`);
  }
});

staged("what a tenant does is in its metrics after the next scrape, without the addresses of nodes", async (on) => {
  const poolId = await on.own.pool();
  await on.own.recipient(poolId);
  await on.own.route(poolId);
  const query = 'routing_decisions_total{outcome="routed"}';
  const now = () =>
    on.own.ok("POST", path, { query, start: new Date(Date.now() - 60_000), end: new Date(), step_s: 1 });
  const { data } = await until(now, (seen) => seen.data.series.length > 0);
  assert.deepEqual(data.series[0].labels, { outcome: "routed", node: "1" });
  assert.equal(data.series[0].points.at(-1).value, 1);
  assert.deepEqual((await on.foreign.ok("POST", path, { query })).data.series, []);
});

staged("the catalogue lists the metrics with a tenant, and all of them can be queried", async (on) => {
  const { metrics, functions, aggregations, limits } = (await on.own.ok("GET", "/api/v1/analytics/catalog")).data;
  const listed = metrics.map(({ name }: ResponseData) => name);
  for (const name of [
    "api_calls_total",
    "routing_decisions_total",
    "webhook_attempts_total",
    "connector_executions_total",
  ]) {
    assert.ok(listed.includes(name), name);
  }
  assert.ok(!listed.includes("process_cpu_seconds_total"));
  for (const { scope, series } of metrics) {
    assert.equal(scope, "tenant");
    for (const query of series) await on.own.ok("POST", path, { query });
  }
  assert.ok(functions.includes("rate") && aggregations.includes("sum") && !functions.includes("label_replace"));
  assert.equal(limits.series_max, 1000);
});

staged("what the guide shows works when it is pasted", (on) => assertGuideWorks("query-analytics.md", on.service));

/** Series in a form that does not depend on their order. */
function comparable(series: ResponseData[]): string[] {
  return series
    .map(({ metric, labels, points }) => {
      const named = { ...labels, ...(metric !== "" && { __name__: metric }) };
      return textOf(
        named,
        points.map((point: ResponseData) => [Date.parse(point.at) / 1000, Number(point.value)]),
      );
    })
    .sort();
}

function comparableDirect(series: NonNullable<Awaited<ReturnType<AnalyticsFixture["direct"]>>>): string[] {
  return series
    .map(({ metric: { tenant_id, ...labels }, values }) =>
      textOf(
        labels,
        values.map(([at, value]) => [at, Number(value.replace("Inf", "Infinity"))]),
      ),
    )
    .sort();
}

function textOf(labels: Readonly<Record<string, string>>, points: readonly (readonly number[])[]): string {
  return `${JSON.stringify(Object.entries(labels).sort())} ${points.map(([at, value]) => `${at}=${value!.toPrecision(9)}`).join(" ")}`;
}
