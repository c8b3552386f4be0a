import assert from "node:assert/strict";
import { before, test } from "node:test";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { newTenant, type ResponseData, type TenantFixture } from "../routing/tenant-fixture.ts";
import { assignAll, results, scoreAll, startExperiment } from "./experiment-fixture.ts";

let tenant: TenantFixture;
let sql: TestSql;
before(async () => {
  const service = await startService();
  tenant = await newTenant(service);
  sql = connect(service.databaseUrl, 1);
});

test("a clear difference wins, appears in the history and as an event, and is exported", async () => {
  const { id, key } = await startExperiment(tenant, { score_window_s: 60, planned_units: 500 });
  const units = Array.from({ length: 500 }, (_, at) => `u${at}`);
  const assigned = await assignAll(tenant, id, units);
  // Each variant counts its own units, so that chance cannot give one variant the higher values.
  const scored = { control: 0, treatment: 0 };
  const scores = assigned.map(({ unit, variant }) => {
    const value = (scored[variant as keyof typeof scored]++ % 7) + (variant === "treatment" ? 10 : 5);
    return { score_id: unit, unit, metric: "revenue", value };
  });
  await scoreAll(tenant, id, scores);
  await sql`update experiment_exposures set due_at = now() where experiment_id = ${id}`;
  const found = await until(
    () => results(tenant, id),
    ({ mature_units }) => mature_units === 500,
  );
  assert.deepEqual([found.verdict, found.winner, found.frozen], ["winner", "treatment", false]);
  const { comparison } = found.variants[1].metrics[0];
  assert.ok(comparison.interval.lower > 4 && comparison.interval.upper < 6, JSON.stringify(comparison));
  assert.ok(comparison.p_value < 0.001);
  const { points } = await until(
    async () => (await tenant.ok("GET", `/api/experiments/${id}/results/history`)).data,
    (history) => history.points.at(-1)?.verdict === "winner",
  );
  assert.equal(points.at(-1).comparisons[0].metric, "revenue");
  const { data: events } = await tenant.ok("GET", `/api/events?subject=${id}&types=experiment.verdict_changed`);
  assert.equal(events[0].data.verdict, "winner");
  const csv = (await tenant.ok("GET", `/api/experiments/${id}/results:export`)).data;
  assert.equal(csv.file_name, `${key}-results.csv`);
  assert.equal(csv.content.trimEnd().split("\r\n").length, 3);
  const json = (await tenant.ok("GET", `/api/experiments/${id}/results:export?format=json`)).data;
  assert.equal(JSON.parse(json.content).analysis.verdict, "winner");
});

test("covariates narrow the interval, and denominators, caps and aggregations count as the metrics say", async () => {
  const metrics = [
    { key: "revenue", type: "mean" },
    { key: "click_rate", type: "ratio" },
    { key: "best_order", type: "mean", aggregation: "max", winsor_cap: 50 },
  ];
  const { id } = await startExperiment(tenant, { metrics, score_window_s: 60, planned_units: 400 });
  const units = Array.from({ length: 400 }, (_, at) => ({ unit: `u${at}`, covariates: { revenue: 10 * (at % 20) } }));
  const { assignments } = (await tenant.ok("POST", `/api/experiments/${id}/assign:batch`, { units })).data;
  const scores = assignments.flatMap(({ unit, variant }: ResponseData, at: number) => [
    {
      score_id: `${unit}-revenue`,
      unit,
      metric: "revenue",
      value: 10 * (at % 20) + (at % 3) + (variant === "treatment" ? 2 : 0),
    },
    { score_id: `${unit}-clicks`, unit, metric: "click_rate", value: 1, denominator: 4 },
    { score_id: `${unit}-small`, unit, metric: "best_order", value: 7 },
    { score_id: `${unit}-large`, unit, metric: "best_order", value: 1_000_000 },
  ]);
  for (let at = 0; at < scores.length; at += 1000) await scoreAll(tenant, id, scores.slice(at, at + 1000));
  await sql`update experiment_exposures set due_at = now() where experiment_id = ${id}`;
  const found = await until(
    () => results(tenant, id),
    ({ mature_units }) => mature_units === 400,
  );
  const [revenue, clickRate, bestOrder] = found.variants[1].metrics;
  const { interval, notes } = revenue.comparison;
  assert.ok(notes.includes("covariate_used"), JSON.stringify(revenue));
  // The revenue itself varies by 58, which is an interval of more than 20 without the covariate.
  assert.ok(interval.lower > 1 && interval.upper < 3, JSON.stringify(interval));
  assert.deepEqual([clickRate.mean, bestOrder.mean], [0.25, 50]);
});
