import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { createAreas } from "../../src/app/areas.ts";
import { version } from "../../src/app/version.ts";
import { freshDatabase, type TestDatabase } from "../harness/postgres.ts";
import { startService } from "../harness/service.ts";
import { createSettableClock } from "../harness/settable-clock.ts";
import { newSender, type Sender, senderAt } from "../notifications/sender-fixture.ts";
import { freshName, type ResponseData } from "../routing/tenant-fixture.ts";

const minuteMs = 60_000;

let database: TestDatabase;
/** The same tenant on two nodes, and another tenant. */
let own: Sender;
let onB: Sender;
let other: Sender;
let nodes: Awaited<ReturnType<typeof startNode>>[];

async function startNode() {
  const { time, createAreas: createAhead } = createSettableClock();
  let areas: Awaited<ReturnType<typeof createAreas>>;
  const settings = { "auth.bootstrap_api_key": "sk_test_history_0123456789abcdef" };
  const service = await startService(
    settings,
    database.url,
    "all",
    async (parts) => (areas = await createAhead(parts)),
  );
  return { service, time, areas: areas! };
}

/** Lets time pass on both nodes, which then store what they have counted. */
async function pass(ms: number): Promise<void> {
  for (const { time } of nodes) time.aheadMs += ms;
  for (const { areas } of nodes) await areas.operations.recordHistory();
}

const passMinutes = (count = 1) => pass(count * minuteMs);

before(async () => {
  database = await freshDatabase();
  const starts = [{ version: "0.0.9", at: new Date(Date.now() - 5 * minuteMs).toISOString() }];
  await database.sql`insert into instance (name, value) values ('version_starts', ${JSON.stringify(starts)}::text::jsonb)`;
  nodes = [await startNode(), await startNode()];
  own = await newSender(nodes[0]!.service);
  onB = senderAt(nodes[1]!.service, own);
  other = await newSender(nodes[0]!.service);
});

after(async () => {
  await Promise.all(nodes.map(({ service }) => service.stop()));
  await database.drop();
});

const historyOf = async (query: string, tenant = own): Promise<ResponseData> =>
  (await tenant.ok("GET", `/api/history?${query}`)).data;

/** The sums of what happened in a history. */
async function flowsOf(query: string, tenant = own) {
  const { points } = await historyOf(query, tenant);
  const sum = (name: string) => points.reduce((total: number, point: ResponseData) => total + point[name], 0);
  return { started: sum("started"), completed: sum("completed"), failed: sum("failed"), dead: sum("dead_lettered") };
}

test("what happened in a pool on two nodes is counted once, and is the tenant's own", async () => {
  const poolId = await own.pool({ config: { retry: { max_attempts: 1 } } });
  for (const tenant of [own, own, onB, onB]) await tenant.route(poolId);
  await own.complete(await own.leaseOne(poolId));
  await onB.fail(await onB.leaseOne(poolId));
  const leased = await own.leaseOne(poolId);
  await passMinutes();

  const expected = { started: 4, completed: 1, failed: 1, dead: 1 };
  for (const range of ["15m", "1h", "24h", "7d"]) {
    const query = `source=pool&source_id=${poolId}&range=${range}`;
    assert.deepEqual(await flowsOf(query), expected, range);
    const { waiting, in_progress, oldest_age_s } = (await historyOf(query)).points.at(-1);
    assert.deepEqual([waiting, in_progress], [1, 1], range);
    assert.ok(oldest_age_s < 3600, range);
  }
  assert.deepEqual(await flowsOf("source=pool"), expected, "the sums of all");
  await other.refused("NOT_FOUND", "GET", `/api/history?source=pool&source_id=${poolId}`);
  assert.deepEqual(await flowsOf("source=pool", other), { started: 0, completed: 0, failed: 0, dead: 0 });
  const staging = await own.caller({ scopes: ["history:read"], environment_mode: "non_production_only" });
  assert.equal((await staging.call("GET", `/api/history?source=pool&source_id=${poolId}`)).status, 403);
  const hidden = (await staging.call("GET", "/api/history?source=pool")).body.data;
  assert.ok(hidden.points.every(({ started, waiting }: ResponseData) => started + waiting === 0));

  await own.pool({ environment_id: "staging" });
  assert.deepEqual(await flowsOf("source=pool&environment_id=production"), expected, "the sums of an environment");
  assert.deepEqual(await flowsOf("source=pool&environment_id=staging"), {
    started: 0,
    completed: 0,
    failed: 0,
    dead: 0,
  });
  for (const query of [`source=pool&source_id=${poolId}`, "source=workflow", "source=channel"]) {
    await own.refused("INVALID_ARGUMENT", "GET", `/api/history?${query}&environment_id=production`);
  }

  await own.complete(leased);
  await own.complete(await own.leaseOne(poolId));
  await passMinutes();
  assert.deepEqual(await flowsOf(`source=pool&source_id=${poolId}`), { ...expected, completed: 3 });
  const [{ rows }] = await database.sql<[{ rows: number }]>`select count(*)::int as rows from history_points`;
  await passMinutes();
  assert.equal((await historyOf(`source=pool&source_id=${poolId}`)).points.at(-1).waiting, 0);
  assert.equal((await database.sql`select from history_points`).count, rows, "an idle pool stores nothing");
});

test("the runs of a workflow and the messages of a channel are counted on the node where they happen", async () => {
  const key = `w.${freshName()}`;
  const steps = [{ id: "share", transform: { part: "=6 / input.by" } }];
  const document = { dsl: "1", key, name: "Fails on demand", timeout: "1d", steps };
  const { id } = (await own.ok("POST", "/api/workflow-definitions", { document })).data;
  await own.ok("POST", `/api/workflow-definitions/${id}/publish`, {});
  for (const [tenant, by] of [[own, 1] as const, [onB, 2] as const, [onB, 0] as const]) {
    await tenant.ok("POST", "/api/workflow-runs", { definition: key, input: { by }, wait_s: 20 });
  }
  const workflow = await own.workflow();
  for (const tenant of [own, onB]) {
    const { id: subscriber_id } = await own.subscriber();
    await tenant.trigger({ workflow_key: workflow, subscriber_id });
  }
  await passMinutes();
  for (const name of [id, key]) {
    const runs = await flowsOf(`source=workflow&source_id=${name}`);
    assert.deepEqual(runs, { started: 3, completed: 2, failed: 1, dead: 0 }, name);
  }
  assert.equal((await flowsOf("source=channel&source_id=in_app")).started, 2);
  assert.equal((await flowsOf("source=channel&source_id=email")).started, 0);
  await own.refused("NOT_FOUND", "GET", "/api/history?source=channel&source_id=pigeon");
  await other.refused("NOT_FOUND", "GET", `/api/history?source=workflow&source_id=${key}`);
  await own.refused("INVALID_ARGUMENT", "GET", "/api/history?source=tenant");
  await own.refused("INVALID_ARGUMENT", "GET", "/api/history?source=pool&range=30d");
});

test("the current minute of runs and messages is shown before it ends, of all nodes, and counted once when it has", async () => {
  const workflow = await own.workflow();
  const { id: subscriber_id } = await own.subscriber();
  const now = () => Date.now() + nodes[0]!.time.aheadMs;
  const ofChannel = async (range = "15m") => {
    const { points } = await historyOf(`source=channel&source_id=in_app&range=${range}`);
    return points.at(-1);
  };
  const startOfNext = minuteMs - (now() % minuteMs);
  await pass(startOfNext + 1_000);
  for (const tenant of [own, onB]) await tenant.trigger({ workflow_key: workflow, subscriber_id });
  await pass(12_000);
  const current = await ofChannel();
  assert.equal(current.started, 2);
  assert.ok(current.covered_s >= 10 && current.covered_s < 60, "only a part of it has been counted");
  assert.ok(now() - Date.parse(current.at) < minuteMs, "it is the current minute");
  const { started: before } = await ofChannel("24h");
  await own.trigger({ workflow_key: workflow, subscriber_id });
  await pass(12_000);
  const later = await ofChannel();
  assert.deepEqual([later.at, later.started], [current.at, 3]);
  assert.ok(later.covered_s > current.covered_s);
  assert.equal((await ofChannel("24h")).started, before + 1);
  await passMinutes();
  const ended = (await historyOf("source=channel&source_id=in_app&range=15m")).points.find(
    ({ at }: ResponseData) => at === current.at,
  );
  assert.deepEqual([ended.started, ended.covered_s], [3, 60]);
});

test("a node that stops stores what it has counted, and the time without a node is a gap", async () => {
  const workflow = await own.workflow();
  const { id: subscriber_id } = await own.subscriber();
  const { started } = await flowsOf("source=channel&source_id=in_app&range=24h");
  await onB.trigger({ workflow_key: workflow, subscriber_id });
  await nodes.pop()!.service.stop();
  await passMinutes(5);
  assert.equal((await flowsOf("source=channel&source_id=in_app&range=24h")).started, started + 1);
  const times: number[] = (await historyOf("source=pool&range=15m")).points.map(({ at }: ResponseData) =>
    Date.parse(at),
  );
  const steps = times.slice(1).map((time, index) => time - times[index]!);
  assert.ok(Math.max(...steps) >= 4 * minuteMs, "nothing is known of the minutes between");
});

test("a history marks pauses of its pool, promotions and new versions", async () => {
  const [poolId, quiet] = [await own.pool({ name: "Tickets" }), await own.pool()];
  await own.ok("POST", `/api/queues/${poolId}/pause`, {});
  await own.ok("POST", `/api/queues/${poolId}/resume`, {});
  const marksOf = async (query: string, tenant = own) =>
    (await historyOf(query, tenant)).marks.map(({ kind, name }: ResponseData) => [kind, name]);
  const starts = ["0.0.9", version].map((each) => ["version.started", each]);
  const pauses = [
    ["queue.paused", "Tickets"],
    ["queue.resumed", "Tickets"],
  ];
  for (const query of ["source=pool", `source=pool&source_id=${poolId}`])
    assert.deepEqual(await marksOf(query), [...starts, ...pauses]);
  assert.deepEqual(await marksOf(`source=pool&source_id=${quiet}`), starts);
  assert.deepEqual(await marksOf("source=channel"), starts);
  assert.deepEqual(await marksOf("source=pool&environment_id=production"), [...starts, ...pauses]);
  assert.deepEqual(await marksOf("source=pool&environment_id=staging"), starts);
  assert.deepEqual(await marksOf("source=pool", other), starts);
});

test("minutes are kept for two hours, steps of ten minutes for a day, hours for a week, and daily counts for two days", async () => {
  const poolId = await own.pool();
  const rows = [
    [1, 1],
    [1, 3],
    [10, 24],
    [10, 27],
    [60, 24 * 7],
    [60, 24 * 8],
  ].map(([step, hours]) => ({ step, at: new Date(Date.now() - hours! * 3_600_000).toISOString() }));
  await database.sql`
    insert into history_points
    select ${own.id}, 'pool', ${poolId}, step, at, 1, 0, 0, 0, 0, 0, 0
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as rows(step int, at timestamptz)`;
  await database.sql`
    insert into queue_daily_counts (tenant_id, pool_id, day, shard, accepted)
    select ${own.id}, ${poolId}, current_date - days, 0, 1 from unnest(array[0, 1, 5]) as days`;
  const signal = new AbortController().signal;
  for (const kind of ["history.delete_expired", "routing.delete_expired"]) {
    const job = nodes[0]!.areas.all.flatMap(({ jobs }) => jobs).find((each) => each.kind === kind)!;
    await job.handler({ tenantId: own.id as never, id: "", payload: {}, attempt: 1, signal });
  }
  const kept = await database.sql<{ step: number; at: Date }[]>`
    select step, at from history_points where tenant_id = ${own.id} and source_id = ${poolId} order by step`;
  assert.deepEqual(
    kept.map(({ step, at }) => ({ step, at: at.toISOString() })),
    [rows[0], rows[2], rows[4]],
  );
  assert.equal((await database.sql`select from queue_daily_counts where pool_id = ${poolId}`).count, 2);
});
