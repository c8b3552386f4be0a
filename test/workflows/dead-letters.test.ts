import assert from "node:assert/strict";
import { test } from "node:test";
import { avoidMidnight } from "../harness/midnight.ts";
import { createReplayFixture, type Decide, type ReplayTenant, task } from "./replay-fixture.ts";

const nodeCount = 3;
const fixture = await createReplayFixture(nodeCount);
const { sql } = fixture;

const failing =
  (...steps: string[]): Decide =>
  (step) =>
    steps.includes(step) ? { code: "broken" } : { output: step };

const get = (tenant: ReplayTenant, runId: string) => tenant.must("GET", `/api/workflow-dlq/${runId}`);
const list = (tenant: ReplayTenant, query = "") => tenant.must("GET", `/api/workflow-dlq?${query}`);

/** The runs that replay a run, the oldest first. */
async function replaysOf(tenantId: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from all_workflow_runs where tenant_id = ${tenantId} and origin ->> 'via' = 'replay' order by id`;
  return rows.map(({ id }) => id);
}

/** A tenant with failed runs of the definition `two`, whose second step fails at once. */
async function withFailedRuns(count: number): Promise<{ tenant: ReplayTenant; ids: string[]; definitionId: string }> {
  const tenant = await fixture.newTenant();
  const definitionId = await tenant.publish("two", { steps: failingSteps });
  const ids: string[] = [];
  for (let nth = 0; nth < count; nth++) ids.push(await tenant.start("two", nth));
  return { tenant, ids, definitionId };
}

const failingSteps = [
  { id: "first", transform: { value: "=input" } },
  { id: "second", fail: { code: "stopped", message: "no" } },
];

test("a run that failed or timed out is a dead letter, and a succeeded or cancelled one is not", async () => {
  const tenant = await fixture.newTenant();
  await tenant.publish("one", { steps: [task("a")] });
  const [failed, succeeded, cancelled] = [
    await tenant.start("one"),
    await tenant.start("one", 1),
    await tenant.start("one"),
  ];
  await tenant.must("POST", `/api/workflow-runs/${cancelled}/cancel`, {});
  let nth = 0;
  await tenant.work([failed, succeeded], () => (nth++ === 0 ? { code: "broken" } : { output: 1 }));
  const letters = await list(tenant);
  assert.equal(letters.length, 1);
  const [letter] = letters;
  assert.ok([failed, succeeded].includes(letter.run_id));
  assert.deepEqual(
    [letter.state, letter.error_code, letter.step, letter.replay_count ?? 0, letter.max_replays, letter.definition_key],
    ["open", "broken", "a", 0, 3, "one"],
  );
  const events = await tenant.must("GET", "/api/events?types=workflow.dead_letter.created");
  assert.deepEqual(
    events.map((event: { subject: string }) => event.subject),
    [letter.run_id],
  );
});

test("a letter is replayed from the failed step, and a replay that fails opens the same letter with its count", async () => {
  const tenant = await fixture.newTenant();
  await tenant.publish("again", { steps: [task("a"), task("b"), task("c")] });
  const runId = await tenant.start("again");
  await tenant.work([runId], failing("b"));
  const first = await tenant.must("POST", `/api/workflow-dlq/${runId}/replay`, { reason: "again" });
  assert.deepEqual(
    [first.plan.from_step, first.dead_letter.state, first.dead_letter.replay_count, first.dead_letter.replay_run_id],
    ["b", "replayed", 1, first.run.id],
  );
  assert.deepEqual(await tenant.work([first.run.id], failing("c")), [`${first.run.id}:b`, `${first.run.id}:c`]);
  const letters = await list(tenant);
  assert.deepEqual(
    letters.map((each: Record<string, unknown>) => [each.run_id, each.replay_count, each.step, each.replay_run_id]),
    [[runId, 1, "c", first.run.id]],
  );
  // The second replay continues the first: b is not executed a third time.
  const second = await tenant.must("POST", `/api/workflow-dlq/${runId}/replay`, {});
  assert.equal(second.run.replay_of_run_id, first.run.id);
  assert.deepEqual(await tenant.work([second.run.id]), [`${second.run.id}:c`]);
  assert.deepEqual([(await get(tenant, runId)).state, (await list(tenant)).length], ["replayed", 0]);
  const again = await tenant.nodes[0]!.call("POST", `/api/workflow-dlq/${runId}/replay`, {});
  assert.equal(again.status, 412);
});

test("a replay of the run itself replays its letter too, and does not count", async () => {
  const { tenant, ids } = await withFailedRuns(1);
  const { run } = await tenant.must("POST", `/api/workflow-runs/${ids[0]}/replay`, {});
  // It failed at once, so the letter is open again.
  const letter = await get(tenant, ids[0]!);
  assert.deepEqual([letter.state, letter.replay_count ?? 0, letter.replay_run_id], ["open", 0, run.id]);
  await tenant.must("POST", `/api/workflow-dlq/${ids[0]}/quarantine`, { reason: "look" });
  const refused = await tenant.nodes[0]!.call("POST", `/api/workflow-runs/${ids[0]}/replay`, {});
  assert.equal(refused.status, 412);
});

test("concurrent replay-all calls on many nodes replay no letter twice or past its maximum, and no quarantined one", async () => {
  const { tenant, ids } = await withFailedRuns(60);
  const aside = ids.filter((_, nth) => nth % 10 === 0);
  for (const runId of aside) await tenant.must("POST", `/api/workflow-dlq/${runId}/quarantine`, {});
  const free = ids.length - aside.length;
  // Replays fail at once, so that calls find letters open again while others still work on them.
  let replayed = 0;
  for (let round = 0; round < 6; round++) {
    const responses = await Promise.all(
      Array.from({ length: 9 }, (_, nth) =>
        tenant.nodes[nth % nodeCount]!.call("POST", "/api/workflow-dlq:replay-all", { max_items: 30 }),
      ),
    );
    for (const { status, text, body } of responses) {
      assert.equal(status, 200, text);
      replayed += body.data.replayed_count ?? 0;
      for (const { reason } of body.data.skipped ?? []) assert.equal(reason, "changed");
    }
  }
  // Whatever is left is replayed one call after the other.
  for (let before = -1; before !== replayed; ) {
    before = replayed;
    replayed += (await tenant.must("POST", "/api/workflow-dlq:replay-all", { max_items: 500 })).replayed_count ?? 0;
  }
  assert.equal(replayed, free * 3);
  assert.equal((await replaysOf(tenant.id)).length, free * 3);
  const rows = await sql<{ runId: string; state: string; replayCount: number }[]>`
    select run_id as "runId", state, replay_count as "replayCount" from workflow_dead_letters where tenant_id = ${tenant.id}`;
  assert.equal(rows.length, ids.length);
  for (const { runId, state, replayCount } of rows) {
    const expected = aside.includes(runId) ? ["quarantined", 0] : ["open", 3];
    assert.deepEqual([state, replayCount], expected);
  }
  const stats = await tenant.must("GET", "/api/workflow-dlq:stats");
  assert.deepEqual(
    [stats.open_count, stats.quarantined_count, stats.exhausted_count, stats.by_error_code],
    [free, aside.length, free, [{ error_code: "stopped", count: free }]],
  );
  const refused = await tenant.nodes[0]!.call("POST", `/api/workflow-dlq/${ids[1]}/replay`, {});
  assert.equal(refused.status, 412);
  assert.match(refused.text, /replayed 3 times/);
});

test("concurrent replays of one letter start one run", async () => {
  const tenant = await fixture.newTenant();
  await tenant.publish("waits", { steps: [task("a")] });
  const runId = await tenant.start("waits");
  await tenant.work([runId], failing("a"));
  const responses = await Promise.all(
    Array.from({ length: 12 }, (_, nth) =>
      tenant.nodes[nth % nodeCount]!.call("POST", `/api/workflow-dlq/${runId}/replay`, {}),
    ),
  );
  assert.equal(responses.filter(({ status }) => status === 200).length, 1);
  assert.equal((await replaysOf(tenant.id)).length, 1);
  assert.equal((await get(tenant, runId)).replay_count, 1);
});

test("a repeated call with the same idempotency key replays once, one letter and all of them", async () => {
  const { tenant, ids } = await withFailedRuns(3);
  const headers = { "idempotency-key": "one" };
  const call = () => tenant.nodes[0]!.call("POST", `/api/workflow-dlq/${ids[0]}/replay`, {}, headers);
  const [first, second] = [await call(), await call()];
  assert.deepEqual([first.status, second.body.data], [200, first.body.data]);
  assert.equal((await replaysOf(tenant.id)).length, 1);
  const all = () => tenant.nodes[1]!.call("POST", "/api/workflow-dlq:replay-all", {}, { "idempotency-key": "all" });
  const [before, after] = [await all(), await all()];
  assert.deepEqual([before.body.data.replayed_count, after.body.data], [3, before.body.data]);
  assert.equal((await replaysOf(tenant.id)).length, 4);
});

test("replay-all takes a filter, a version and a start, and says where to continue", async () => {
  const { tenant, ids, definitionId } = await withFailedRuns(5);
  await tenant.publish("two", { steps: [failingSteps[0]!, { id: "second", transform: { value: "=steps.first" } }] });
  for (const version of [2, -1]) {
    const refused = await tenant.nodes[0]!.call("POST", "/api/workflow-dlq:replay-all", { version });
    assert.equal(refused.body.violations[0].rule, "needs_definition");
  }
  const none = await tenant.must("POST", "/api/workflow-dlq:replay-all", { error_code: "other" });
  assert.deepEqual([none.replayed_count ?? 0, none.next ?? ""], [0, ""]);
  const body = { definition_id: definitionId, error_code: "stopped", version: 2, max_items: 3 };
  const first = await tenant.must("POST", "/api/workflow-dlq:replay-all", body);
  assert.deepEqual([first.replayed_count, first.next], [3, ids[2]]);
  const rest = { ...body, from: "start", after: first.next };
  const second = await tenant.must("POST", "/api/workflow-dlq:replay-all", rest);
  assert.deepEqual([second.replayed_count, second.next ?? ""], [2, ""]);
  const runs = await Promise.all((await replaysOf(tenant.id)).map((runId) => tenant.run(runId)));
  assert.deepEqual(
    runs.map(({ status, version, input }) => [status, version, input]).sort(),
    [0, 1, 2, 3, 4].map((nth) => ["succeeded", 2, nth]),
  );
  const refused = await tenant.nodes[0]!.call("POST", "/api/workflow-dlq:replay-all", { version: 2 });
  assert.equal(refused.status, 400);
});

test("letters that cannot be replayed are skipped with the reason and stay open", async () => {
  const { tenant, ids, definitionId } = await withFailedRuns(3);
  await tenant.publish("two", { steps: [failingSteps[0]!] });
  await sql`delete from workflow_history where run_id = ${ids[2]!}`;
  const result = await tenant.must("POST", "/api/workflow-dlq:replay-all", {
    ...{ definition_id: definitionId, version: -1 },
  });
  assert.deepEqual(
    [result.replayed_count ?? 0, result.skipped.map((each: { reason: string }) => each.reason)],
    [0, ["refused", "refused", "history_expired"]],
  );
  assert.equal((await list(tenant)).length, 3);
  assert.equal((await replaysOf(tenant.id)).length, 0);
});

test("a letter whose run cannot be stored is not counted", async () => {
  const tenant = await fixture.newTenant();
  const steps = [{ id: "pick", branch: [{ when: "=input", steps: [failingSteps[1]!] }, { else: [task("t")] }] }];
  await tenant.publish("single", { steps });
  const failed = await tenant.start("single", true, { run_key: "k" });
  const other = await tenant.start("single", false, { run_key: "k" });
  const skipping = await tenant.must("POST", "/api/workflow-dlq:replay-all", {});
  assert.deepEqual(
    skipping.skipped.map((each: { reason: string }) => each.reason),
    ["run_key_taken"],
  );
  const refused = await tenant.nodes[0]!.call("POST", `/api/workflow-dlq/${failed}/replay`, {});
  assert.equal(refused.status, 409);
  const letter = await get(tenant, failed);
  assert.deepEqual([letter.state, letter.replay_count ?? 0, letter.replay_run_id ?? ""], ["open", 0, ""]);
  await tenant.work([other]);
  assert.equal((await tenant.must("POST", "/api/workflow-dlq:replay-all", {})).replayed_count, 1);
});

test("the quota ends a replay of many letters, and the rest can be replayed later", async () => {
  await avoidMidnight();
  const tenant = await fixture.newTenant({ quotas: { "workflow.run": { limit_per_day: 8 } } });
  await tenant.publish("two", { steps: failingSteps });
  for (let nth = 0; nth < 6; nth++) await tenant.start("two", nth);
  const result = await tenant.must("POST", "/api/workflow-dlq:replay-all", {});
  assert.equal(result.replayed_count, 2);
  assert.notEqual(result.next ?? "", "");
  assert.equal((await replaysOf(tenant.id)).length, 2);
  const refused = await tenant.nodes[0]!.call("POST", "/api/workflow-dlq:replay-all", {});
  assert.equal(refused.status, 429);
});

test("the quota ends a replay of runs that match, and the rest can be replayed later", async () => {
  await avoidMidnight();
  const tenant = await fixture.newTenant({ quotas: { "workflow.run": { limit_per_day: 8 } } });
  await tenant.publish("matching", { steps: failingSteps });
  for (let nth = 0; nth < 6; nth++) await tenant.start("matching", nth);
  const request = { action: "replay", definition_id: "matching" };
  const result = await tenant.must("POST", "/api/workflow-runs:change", request);
  assert.equal(result.changed_count, 2);
  assert.notEqual(result.next, "");
  assert.equal((await replaysOf(tenant.id)).length, 2);
  const refused = await tenant.nodes[0]!.call("POST", "/api/workflow-runs:change", { ...request, after: result.next });
  assert.equal(refused.status, 429);
});

test("letters are quarantined, released and discarded, and each change is an event", async () => {
  const { tenant, ids } = await withFailedRuns(2);
  const [kept, gone] = ids as [string, string];
  const quarantined = await tenant.must("POST", `/api/workflow-dlq/${kept}/quarantine`, { reason: "poison" });
  assert.deepEqual([quarantined.state, quarantined.reason], ["quarantined", "poison"]);
  const refused = await tenant.nodes[0]!.call("POST", `/api/workflow-dlq/${kept}/replay`, {});
  assert.equal(refused.status, 412);
  assert.equal((await tenant.must("POST", `/api/workflow-dlq/${kept}/release`, {})).state, "open");
  assert.equal(
    (await tenant.must("POST", `/api/workflow-dlq/${gone}/discard`, { reason: "test data" })).state,
    "discarded",
  );
  assert.equal((await tenant.nodes[0]!.call("POST", `/api/workflow-dlq/${gone}/release`, {})).status, 412);
  assert.deepEqual(
    (await list(tenant)).map((each: { run_id: string }) => each.run_id),
    [kept],
  );
  assert.deepEqual(
    (await list(tenant, "state=discarded")).map((each: { run_id: string }) => each.run_id),
    [gone],
  );
  const events = await tenant.must("GET", "/api/events?limit=200");
  const types = new Set(events.map(({ type }: { type: string }) => type));
  for (const change of ["quarantined", "released", "discarded"])
    assert.ok(types.has(`workflow.dead_letter.${change}`), change);
});

test("operators replay and quarantine, viewers only read, and only admins discard", async () => {
  const { tenant, ids } = await withFailedRuns(1);
  const path = `/api/workflow-dlq/${ids[0]}`;
  const viewer = await tenant.clientWith({ roles: ["viewer"] });
  const operator = await tenant.clientWith({ roles: ["operator"] });
  assert.equal((await viewer.call("GET", path)).status, 200);
  assert.equal((await viewer.call("POST", `${path}/quarantine`, {})).status, 403);
  assert.equal((await operator.call("POST", `${path}/discard`, {})).status, 403);
  assert.equal((await operator.call("POST", `${path}/replay`, {})).status, 200);
});

test("letters of other tenants and of environments without access are neither seen nor replayed", async () => {
  const { tenant, ids } = await withFailedRuns(2);
  const foreign = await fixture.newTenant();
  const path = `/api/workflow-dlq/${ids[0]}`;
  for (const [method, suffix] of [
    ["GET", ""],
    ["POST", "/replay"],
    ["POST", "/quarantine"],
    ["POST", "/release"],
    ["POST", "/discard"],
  ]) {
    assert.equal((await foreign.nodes[0]!.call(method!, path + suffix, method === "GET" ? undefined : {})).status, 404);
  }
  assert.deepEqual(await list(foreign), []);
  assert.equal((await foreign.must("POST", "/api/workflow-dlq:replay-all", {})).replayed_count ?? 0, 0);
  const limited = await tenant.clientWith({ roles: ["operator"], environment_mode: "non_production_only" });
  assert.deepEqual((await limited.call("GET", "/api/workflow-dlq")).body.data, []);
  assert.equal((await limited.call("GET", "/api/workflow-dlq:stats")).body.data.open_count ?? 0, 0);
  assert.equal((await limited.call("GET", path)).status, 403);
  assert.equal((await limited.call("POST", "/api/workflow-dlq:replay-all", {})).body.data.replayed_count ?? 0, 0);
  assert.equal((await replaysOf(tenant.id)).length, 0);
});

test("open letters are counted in the metrics", async () => {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int from workflow_dead_letters where state = 'open'`;
  const text = await (await fetch(`${fixture.metricsUrl}/metrics`)).text();
  const shown = text.split("\n").filter((line) => /^(?:workflow_dead_letter|backlog_rows)/.test(line));
  assert.ok(shown.includes(`backlog_rows{backlog="workflow_dead_letters"} ${row!.count}`), shown.join("\n"));
  assert.match(shown.join("\n"), /workflow_dead_letter_changes_total\{change="replayed"\} \d+/);
});
