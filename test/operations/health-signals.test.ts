import assert from "node:assert/strict";
import { before, beforeEach, test } from "node:test";
import { startNodeProcess } from "../harness/node-process.ts";
import type { Json } from "../harness/operations.ts";
import { restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { createHealthFixture, type HealthFixture } from "./health-fixture.ts";

let service: TestService;
let fixture: HealthFixture;
before(async () => {
  // A node without background work changes nothing that a test has written.
  service = await startService({}, undefined, "api");
  fixture = await createHealthFixture(service, "stage");
});
beforeEach(async () => {
  await fixture.clear();
  await fixture.beat();
});

/** Asserts the level of a signal after each of several additions. */
async function levels(name: string, steps: readonly (readonly [add: () => Promise<unknown>, level: string])[]) {
  for (const [at, [add, level]] of steps.entries()) {
    await add();
    const signal = await fixture.signal(name);
    assert.equal(signal.level, level, `${name}, step ${at}: ${JSON.stringify(signal)}`);
  }
}

test("an environment in which nothing happens is healthy", async () => {
  const report = await fixture.report();
  assert.deepEqual([report.verdict, report.confidence, report.reason_codes], ["healthy", "medium", []]);
  assert.deepEqual(
    (report.sources as Json[]).map(({ freshness }) => freshness),
    ["current", "current", "current"],
  );
});

test("the failure ratio counts the runs that ended in the window of the environment", async () => {
  await levels("workflow_failure_ratio", [
    [() => fixture.endRuns("failed", 4), "not_evaluated"],
    [() => fixture.endRuns("timed_out", 1), "unhealthy"],
    [() => fixture.endRuns("succeeded", 46), "healthy"],
    // 6 of 60 are 10 percent.
    [() => Promise.all([fixture.endRuns("failed", 1), fixture.endRuns("succeeded", 8)]), "degraded"],
    [() => fixture.endRuns("failed", 1), "degraded"],
    [() => fixture.endRuns("failed", 10), "degraded"],
    // 18 of 72 are 25 percent.
    [() => fixture.endRuns("failed", 1), "unhealthy"],
    [() => fixture.endRuns("failed", 1), "unhealthy"],
    // These ended before the window.
    [() => fixture.endRuns("succeeded", 500, 90_000), "unhealthy"],
  ]);
  const { value, evidence } = await fixture.signal("workflow_failure_ratio");
  assert.equal(value, 26);
  assert.deepEqual(evidence, [
    { name: "failed_runs", value: 19 },
    { name: "ended_runs", value: 73 },
  ]);
});

test("runs are idle when they should have continued five minutes ago; paused ones are not", async () => {
  await levels("idle_running_runs", [
    [() => fixture.addRuns("running", 3, 240), "healthy"],
    [() => fixture.addRuns("paused", 9, 900), "healthy"],
    [() => fixture.addRuns("running", 1, 300), "degraded"],
    [() => fixture.addRuns("waiting", 3, 301), "degraded"],
    [() => fixture.addRuns("pending", 1, 301), "unhealthy"],
    [() => fixture.addRuns("running", 1, 301), "unhealthy"],
  ]);
});

test("the ready depth counts queue items and workflow tasks together, and no delayed or held ones", async () => {
  await levels("ready_queue_depth", [
    [() => fixture.addItems(60), "healthy"],
    [() => fixture.addTasks("ready", 39), "healthy"],
    [() => fixture.addTasks("ready", 500, -600), "healthy"],
    [() => fixture.addTasks("held", 500), "healthy"],
    [() => fixture.addTasks("ready", 1), "degraded"],
    [() => fixture.addItems(1), "degraded"],
    [() => fixture.addItems(898), "degraded"],
    [() => fixture.addItems(1), "unhealthy"],
    [() => fixture.addTasks("ready", 1), "unhealthy"],
  ]);
  const { evidence } = await fixture.signal("ready_queue_depth");
  assert.deepEqual(evidence, [
    { name: "ready_queue_items", value: 960 },
    { name: "ready_workflow_tasks", value: 41 },
  ]);
});

for (const [kind, add] of [
  ["queue item", (ageS: number) => fixture.addItems(1, ageS)],
  ["workflow task", (ageS: number) => fixture.addTasks("ready", 1, ageS)],
] as const) {
  test(`the oldest ready ${kind} is degraded after 15 minutes and unhealthy after an hour`, async () => {
    await levels("oldest_ready_item", [
      [() => add(840), "healthy"],
      [() => add(900), "degraded"],
      [() => add(901), "degraded"],
      [() => add(3540), "degraded"],
      [() => add(3600), "unhealthy"],
      [() => add(3601), "unhealthy"],
    ]);
  });
}

test("the age of an item that waited or is retried counts from when it became ready", async () => {
  await levels("oldest_ready_item", [
    [() => fixture.addItems(1, 7200, 840), "healthy"],
    [() => fixture.addItems(1, 7200, 901), "degraded"],
  ]);
});

test("tasks that no worker of their queue can run are incompatible", async () => {
  await levels("incompatible_attempts", [
    [() => fixture.addTasks("ready", 5), "healthy"],
    [() => fixture.addTasks("incompatible", 1), "degraded"],
    [() => fixture.addTasks("incompatible", 8), "degraded"],
    [() => fixture.addTasks("incompatible", 1), "unhealthy"],
    [() => fixture.addTasks("incompatible", 1), "unhealthy"],
  ]);
});

test("only open dead letters count", async () => {
  await levels("workflow_dead_letters", [
    [() => fixture.addLetters("quarantined", 200), "healthy"],
    [() => fixture.addLetters("replayed", 200), "healthy"],
    [() => fixture.addLetters("open", 1), "degraded"],
    [() => fixture.addLetters("open", 98), "degraded"],
    [() => fixture.addLetters("open", 1), "unhealthy"],
    [() => fixture.addLetters("open", 1), "unhealthy"],
  ]);
});

test("stale and missing heartbeats, skewed clocks and unusable dependencies make the report unknown", async () => {
  const codes = async () => {
    const report = await fixture.report();
    return [report.verdict, ...(report.reason_codes as string[])];
  };
  await fixture.beat({ name: "workflow_runs", ageS: 240 });
  assert.deepEqual(await codes(), ["healthy"]);
  await fixture.beat({ name: "workflow_runs", ageS: 301 });
  assert.deepEqual(await codes(), ["unknown", "TELEMETRY_STALE"]);
  for (const skewS of [31, -31]) {
    await fixture.beat({ name: "queue_items", skewS });
    assert.deepEqual(await codes(), ["unknown", "SOURCE_CLOCK_SKEWED"]);
  }
  await fixture.beat({ name: "queue_items", skewS: 29 });
  assert.deepEqual(await codes(), ["healthy"]);
  await fixture.beat({ name: "cache", ageS: 31 });
  assert.deepEqual(await codes(), ["unknown", "DEPENDENCY_SNAPSHOT_STALE"]);
  await fixture.beat({ name: "cache", state: "unavailable" });
  assert.deepEqual(await codes(), ["unknown", "DEPENDENCY_UNAVAILABLE"]);
  await fixture.beat({ name: "cache", state: "password=hunter2" });
  assert.deepEqual(await codes(), ["unknown", "STATE_UNCLASSIFIED"]);
  assert.doesNotMatch(JSON.stringify(await fixture.report()), /hunter2/);
  await fixture.beat();
  await fixture.sql`delete from health_observations where name in ('workflow_tasks', 'database')`;
  assert.deepEqual(await codes(), ["unknown", "TELEMETRY_MISSING", "DEPENDENCY_SNAPSHOT_MISSING"]);
});

test("a state that a later version has added makes the report unknown", async () => {
  const { sql } = fixture;
  await sql`alter table workflow_dead_letters drop constraint workflow_dead_letters_state_check`;
  await sql`alter table workflow_runs drop constraint workflow_runs_status_check`;
  await sql`alter table workflow_run_archive drop constraint workflow_run_archive_status_check`;
  for (const [add, name] of [
    [() => fixture.addLetters("snoozed", 1), "workflow_dead_letters"],
    [() => fixture.addRuns("suspended", 1, 301), "idle_running_runs"],
    [() => fixture.endRuns("abandoned", 1), "workflow_failure_ratio"],
  ] as const) {
    await add();
    const { verdict, reason_codes, signals } = await fixture.report();
    assert.deepEqual([verdict, reason_codes], ["unknown", ["STATE_UNCLASSIFIED"]], name);
    const unknown = (signals as Json[]).filter(({ level }) => level === "unknown").map((each) => each.name);
    assert.deepEqual(unknown, [name]);
    await fixture.clear();
  }
});

test("a source that cannot be read makes the report unknown, and the report does not say why", async () => {
  await fixture.sql`alter table workflow_dead_letters rename to hidden_letters`;
  try {
    const report = await fixture.report();
    assert.deepEqual([report.verdict, report.reason_codes], ["unknown", ["SOURCE_UNAVAILABLE"]]);
    assert.doesNotMatch(JSON.stringify(report), /relation|hidden_letters/);
  } finally {
    await fixture.sql`alter table hidden_letters rename to workflow_dead_letters`;
  }
});

test("a report contains no payloads, and every finding leads to a runbook", async () => {
  await fixture.addItems(100, 4000);
  await fixture.addTasks("incompatible", 10);
  await fixture.addRuns("running", 5, 900);
  await fixture.endRuns("failed", 10);
  await fixture.addLetters("open", 100);
  const report = await fixture.report();
  assert.equal(report.verdict, "unhealthy");
  const steps = report.next_steps as Json[];
  assert.deepEqual(
    steps.map(({ reason_code }) => reason_code),
    report.reason_codes,
  );
  assert.equal(steps.length, 6);
  assert.doesNotMatch(JSON.stringify(report), /hunter2/);
});

test("another tenant's environment is not found, and its report is computed from its own data only", async () => {
  await fixture.addItems(100);
  const { body } = await fixture.rest.call("POST", "/api/tenants", { name: "other", issue_admin_key: true });
  const other = restClient(service.baseUrl, body.data.admin_key);
  const path = (environment: string) => `/api/operational-health/report?environment=${environment}&period=3h`;
  assert.equal((await fixture.rest.call("GET", path(fixture.environmentId))).body.data.verdict, "degraded");
  for (const environment of [fixture.environmentId, "stage"]) {
    const refused = await other.call("GET", path(environment));
    assert.deepEqual([refused.status, refused.body.errorCode], [404, "NOT_FOUND"]);
  }
  const own = await other.call("GET", path("production"));
  assert.deepEqual([own.body.data.verdict, own.body.data.scope.tenant_id], ["healthy", body.data.id]);
  const scopes = await other.call("GET", "/api/operational-health/scopes");
  assert.ok(scopes.body.data.length > 0);
  for (const scope of scopes.body.data) assert.equal(scope.tenant_id, body.data.id);
});

test("a caller sees and gets only the scopes of its environments", async () => {
  const created = await fixture.rest.call("POST", "/api/v2/api-keys", {
    ...{
      name: "production",
      scopes: ["operational_health:read"],
      environment_mode: "production_only",
    },
  });
  const restricted = restClient(service.baseUrl, created.body.data.secret);
  const scopes = await restricted.call("GET", "/api/operational-health/scopes");
  assert.deepEqual(
    scopes.body.data.map((each: Json) => each.environment),
    ["production"],
  );
  assert.equal((await restricted.call("GET", "/api/operational-health/report?environment=stage")).status, 403);
  assert.equal((await restricted.call("GET", "/api/operational-health/report")).status, 200);
});

test("a living collector renews its observations; a killed one leaves the report unknown", async () => {
  await fixture.sql`delete from health_observations`;
  const node = await startNodeProcess({
    "database.url": service.databaseUrl,
    "auth.bootstrap_api_key": service.adminKey,
  });
  const healthy = () => until(fixture.report, ({ verdict }) => verdict === "healthy");
  const age = () => fixture.sql`
    update health_observations
    set observed_at = observed_at - interval '10 minutes', node_clock = node_clock - interval '10 minutes'`;
  try {
    await healthy();
    await age();
    await healthy();
  } finally {
    await node.kill();
  }
  await age();
  const { verdict, reason_codes } = await fixture.report();
  assert.deepEqual([verdict, reason_codes], ["unknown", ["TELEMETRY_STALE", "DEPENDENCY_SNAPSHOT_STALE"]]);
});
