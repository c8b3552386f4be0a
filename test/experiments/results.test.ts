import assert from "node:assert/strict";
import { before, test } from "node:test";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { startService } from "../harness/service.ts";
import { newParty, type Party, shown } from "../routing/tenant-fixture.ts";
import { assignAll, results, scoreAll, startExperiment } from "./experiment-fixture.ts";

let party: Party;
let sql: TestSql;
before(async () => {
  const service = await startService();
  party = await newParty(service);
  sql = connect(service.databaseUrl, 1);
});

test("a clear difference wins, appears in the history and as an event, and is exported", async () => {
  const { id, key } = await startExperiment(party, { score_window_s: 60, planned_units: 500 });
  const units = Array.from({ length: 500 }, (_, at) => `u${at}`);
  const assigned = await assignAll(party, id, units);
  // Each variant counts its own units, so that chance cannot give one variant the higher values.
  const scored = { control: 0, treatment: 0 };
  const scores = assigned.map(({ unit, variant }) => {
    const value = (scored[variant as keyof typeof scored]++ % 7) + (variant === "treatment" ? 10 : 5);
    return { score_id: unit, unit, metric: "revenue", value };
  });
  await scoreAll(party, id, scores);
  await sql`update experiment_exposures set due_at = now() where experiment_id = ${id}`;
  const found = await shown(
    () => results(party, id),
    ({ mature_units }) => mature_units === 500,
  );
  assert.deepEqual([found.verdict, found.winner, found.frozen], ["winner", "treatment", false]);
  const { comparison } = found.variants[1].metrics[0];
  assert.ok(comparison.interval.lower > 4 && comparison.interval.upper < 6, JSON.stringify(comparison));
  assert.ok(comparison.p_value < 0.001);
  const { points } = await shown(
    async () => (await party.ok("GET", `/api/experiments/${id}/results/history`)).data,
    (history) => history.points.at(-1)?.verdict === "winner",
  );
  assert.equal(points.at(-1).comparisons[0].metric, "revenue");
  const { data: events } = await party.ok("GET", `/api/events?subject=${id}&types=experiment.verdict_changed`);
  assert.equal(events[0].data.verdict, "winner");
  const csv = (await party.ok("GET", `/api/experiments/${id}/results:export`)).data;
  assert.equal(csv.file_name, `${key}-results.csv`);
  assert.equal(csv.content.trimEnd().split("\r\n").length, 3);
  const json = (await party.ok("GET", `/api/experiments/${id}/results:export?format=json`)).data;
  assert.equal(JSON.parse(json.content).analysis.verdict, "winner");
});
