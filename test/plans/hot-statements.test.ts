import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { eventStore } from "../../src/modules/operations/events/store.ts";
import { groupsOfHolders, lockHolders, readGroups } from "../../src/modules/routing/admission/group-store.ts";
import { completePlainItems } from "../../src/modules/routing/queues/completion/completion-store.ts";
import { insertAcceptedBatches } from "../../src/modules/routing/queues/intake/accept-store.ts";
import {
  findHeldLeases,
  giveBackLeases,
  hasReadyItem,
  type LeaseParams,
  leaseItems,
  renewLeases,
} from "../../src/modules/routing/queues/leasing/lease-store.ts";
import { firstCandidates, namedCandidates } from "../../src/modules/routing/queues/leasing/limited-lease-store.ts";
import * as sweep from "../../src/modules/routing/queues/sweep/sweep-store.ts";
import { transitionItems } from "../../src/modules/routing/queues/transitions/transition-store.ts";
import { nextWake } from "../../src/modules/workflows/runs/storage/due-runs.ts";
import { findKnownMail, loadLeasedTasks, loadRuns } from "../../src/modules/workflows/runs/storage/run-loader.ts";
import type { RunWrite } from "../../src/modules/workflows/runs/storage/run-write.ts";
import { updateRuns } from "../../src/modules/workflows/runs/storage/run-writer.ts";
import { appendBatch } from "../../src/modules/workflows/streams/append/append-store.ts";
import { deliveryStore, nextDelivery } from "../../src/modules/workflows/streams/delivery/delivery-store.ts";
import * as claims from "../../src/modules/workflows/tasks/polling/claim-store.ts";
import { extendLeases, releaseLeases } from "../../src/modules/workflows/tasks/reports/report-store.ts";
import { nextExpiry } from "../../src/modules/workflows/tasks/sweep/sweep-store.ts";
import type { TenantId } from "../../src/platform/access/index.ts";
import { type Connections, deleteBatch, openDatabase, type Sql } from "../../src/platform/db/index.ts";
import { leaseJobs, nextJobDue } from "../../src/platform/jobs/store.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { sized } from "../harness/run-size.ts";

// The indexes that frequent statements use, with PostgreSQL's own settings and in whatever state their plans were made. Each
// statement works on a batch of rows; it must not read more because there are more.
const rowCount = sized(20_000, 1_000_000);
const batch = 10;
/** More than a batch, because statements that were rolled back leave dead entries. Far less than the rows of a table. */
const readsMax = 50 * batch;
/** After five executions PostgreSQL may use a generic plan. */
const executions = 6;

const idOf = (n: number) => String(n).padStart(26, "0");
const tenantId = idOf(1) as TenantId;
const poolId = idOf(2);
const environmentId = idOf(3);
/** Ids of the last rows n with n % 4 = remainder: a scan that hopes to find its row soon reads everything. */
const lastIds = (remainder: number) =>
  Array.from({ length: batch }, (_, nth) => idOf(rowCount - 4 * (nth + 1) + remainder)).sort();
const [leasedIds, readyIds] = [lastIds(0), lastIds(1)];

const lease: LeaseParams = {
  ...{ tenantId, poolId, delivery: "pull", recipientIds: [""], count: batch, leaseS: 60, ageingMs: 0 },
  ...{ tokenSecret: "x", shard: 0 },
};
const held = leasedIds.map((id) => ({
  tenantId,
  poolId,
  id,
  token: "token",
  leaseToken: "token",
  leaseS: 60,
  ageingMs: 0,
}));
const groups = leasedIds.map((groupId) => ({ tenantId, kind: "singleton" as const, groupId }));
const queue = { tenantId, environmentId, queue: "q" };
const kinds = ["a", "b", "c"].map((type) => ({ type, versionRange: "", refusedBy: [] }));
const slots = { workerIds: Array<string>(batch).fill("w"), tokenSuffixes: Array<string>(batch).fill("s") };
const mail = leasedIds.map((id) => ({ tenantId, runId: id, eventId: id }));
const preferred = readyIds.map((runId, firstSlot) => ({ runId, firstSlot, slotCount: 1 }));
const appends = leasedIds.map((id) => ({
  key: { tenantId, runId: id, streamId: id },
  records: [{ direction: "output" as const, contentClass: "data" as const, schemaRef: "", payloadJson: "1", bytes: 1 }],
  ceilings: { unread_items: 100, unread_bytes: 100, total_items: 100, total_bytes: 100 },
  ...{ maxAgeS: 60, appendedAtMs: 0, idempotency: undefined },
}));
const keyedAppends = appends.map((append) => ({
  ...append,
  idempotency: {
    ...{ tenantId, principal: "p", operation: "append", key: append.key.streamId, fingerprint: Buffer.from("f") },
    ...{ createdAt: new Date(0), beforeSequence: "", afterSequence: "" },
  },
}));
const advanceOf = (id: string): RunWrite => ({
  ...{ tenantId, id, environmentId, inProduction: true, revision: 1, status: "running", stateJson: "{}", unread: 0 },
  ...{ wakeAtMs: undefined, end: undefined, historyJson: "[]", newTasks: [], retriedTasks: [], endedTasks: [id] },
  ...{ hold: undefined, newMail: [], consumedMail: [], cancelledRuns: [], events: [] },
  ...{ newApprovals: [], decidedApprovals: [], closedApprovals: [], records: [], epoch: undefined },
});
const noShards = (sql: Sql) => sql`select 0 as shard`;
const accepted = {
  record: undefined,
  rows: [0, 1].map((n) => ({
    decision: {
      ...{
        tenantId,
        id: idOf(rowCount + 1 + n),
        poolId,
        type: "t",
        key: "k",
        priority: 0,
        outcome: "queued",
        recipientId: "",
      },
      ...{
        attributesJson: "{}",
        requirementsJson: "{}",
        payloadJson: "{}",
        evidenceJson: "{}",
        snapshotDigest: "00",
        seed: 0,
      },
    },
    priority: 0,
    item: {
      ...{ recipientId: "", state: "ready", delivery: "pull", ageingS: 0, dueAtMs: undefined, holdReason: "" },
      ...{ expiresAtMs: Date.now() + 60_000, ownTtl: false, limitGroups: [] },
      groups: { singleton: "", debounce: "", throttle: "", concurrency: "" },
    },
    events: [],
  })),
} as unknown as Parameters<typeof insertAcceptedBatches>[1][number];

type Run = (sql: Sql) => Promise<unknown>;
/** What a statement does, and the indexes of large tables that it may use. */
type Golden = readonly [run: Run, ...indexes: string[]];

/** The statements of generic-plan connections. */
const genericPlans: Record<string, Golden> = {
  "lease items": [(sql) => leaseItems(sql, lease), "queue_items_ready", "queue_items_pkey"],
  "lease items from a rank on": [
    (sql) => leaseItems(sql, { ...lease, fromRank: 100 }),
    ...["queue_items_ready", "queue_items_pkey"],
  ],
  "lease items of several recipients": [
    (sql) => leaseItems(sql, { ...lease, recipientIds: ["", "r1", "r2"] }),
    ...["queue_items_ready", "queue_items_pkey"],
  ],
  "lease items within a capacity": [
    (sql) => leaseItems(sql, { ...lease, bounds: new Map([["", 1000]]) }),
    ...["queue_items_ready", "queue_items_pkey", "queue_items_in_flight"],
  ],
  "look for a ready item": [(sql) => hasReadyItem(sql, lease), "queue_items_ready"],
  "give leases back": [(sql) => giveBackLeases(sql, held, 0), "queue_items_pkey"],
  "complete items": [(sql) => completePlainItems(sql, held, Date.now(), 0), "queue_items_pkey"],
  "complete items with results": [
    (sql) =>
      completePlainItems(
        sql,
        held.map((each) => ({ ...each, result: {} })),
        Date.now(),
        0,
      ),
    "queue_items_pkey",
  ],
  "lease tasks of one kind": [
    (sql) => claims.leaseTasks(sql, queue, "b", kinds.slice(0, 1), slots),
    ...["workflow_tasks_ready", "workflow_tasks_pkey", "workflow_tasks_run"],
  ],
  "lease tasks": [
    (sql) => claims.leaseTasks(sql, queue, "b", kinds, slots),
    ...["workflow_tasks_ready", "workflow_tasks_pkey", "workflow_tasks_run"],
  ],
  "read kinds of tasks": [(sql) => claims.readQueuedKinds(sql, queue), "workflow_tasks_ready"],
  "load runs": [(sql) => loadRuns(sql, held), "workflow_runs_pkey"],
  "load leased tasks": [(sql) => loadLeasedTasks(sql, held), "workflow_tasks_pkey"],
  "advance a run": [
    (sql) => updateRuns(sql, [advanceOf(leasedIds[0]!)], noShards),
    ...["workflow_runs_pkey", "workflow_tasks_pkey", "workflow_tasks_run"],
  ],
  "advance runs": [
    (sql) => updateRuns(sql, leasedIds.map(advanceOf), noShards),
    ...["workflow_runs_pkey", "workflow_tasks_pkey", "workflow_tasks_run"],
  ],
  "append records": [(sql) => appendBatch(sql, appends), "workflow_stream_heads_pkey"],
  "append records with keys": [
    (sql) => appendBatch(sql, keyedAppends),
    ...["workflow_stream_heads_pkey", "idempotency_records_pkey"],
  ],
  "find when the next work is due": [
    (sql) => sql`
      select (${nextJobDue(sql, ["a", "b"])}) as jobs, (${nextExpiry(sql)}) as tasks, (${nextDelivery(sql)}) as deliveries,
        (${nextWake(sql, [0, 1])}) as runs`,
    ...["jobs_due", "jobs_leased", "workflow_tasks_leased", "workflow_stream_deliveries_due", "workflow_runs_wake"],
  ],
  "follow events": [(sql) => eventStore(sql).after(tenantId, { stamp: "3", id: "" }, batch), "events_in_order"],
};

/** The statements of other connections. */
const others: Record<string, Golden> = {
  "accept items": [(sql) => insertAcceptedBatches(sql, [accepted], 0)],
  "read groups": [(sql) => readGroups(sql, groups, true), "admission_groups_pkey", "queue_items_pkey"],
  "read groups of holders": [(sql) => groupsOfHolders(sql, groups), "admission_groups_pkey", "queue_items_pkey"],
  "lock holders of groups": [(sql) => lockHolders(sql, groups), "admission_groups_pkey", "queue_items_pkey"],
  "read limited items": [(sql) => firstCandidates(sql, lease, batch), "queue_items_ready"],
  "fail items": [
    (sql) =>
      transitionItems(
        sql,
        held.map((each) => ({ ...each, from: each, to: "ready" })),
        Date.now(),
      ),
    "queue_items_pkey",
  ],
  "cancel items": [
    (sql) =>
      transitionItems(
        sql,
        readyIds.map((id) => ({ tenantId, id, from: "waiting", to: "cancelled" })),
        Date.now(),
      ),
    "queue_items_pkey",
  ],
  "renew leases": [(sql) => renewLeases(sql, held), "queue_items_pkey"],
  "read held leases": [(sql) => findHeldLeases(sql, tenantId, held), "queue_items_pkey"],
  "find expired leases": [(sql) => sweep.findExpiredLeases(sql, batch), "queue_items_leased"],
  "release due items": [(sql) => sweep.releaseDueItems(sql, batch), "queue_items_due", "queue_items_pkey"],
  "find the next deadline": [(sql) => sweep.nextDeadline(sql), "queue_items_due", "queue_items_leased"],
  "extend leases of tasks": [
    (sql) =>
      extendLeases(
        sql,
        held.map((each) => ({ ...each, detailsJson: undefined })),
      ),
    ...["workflow_tasks_pkey", "workflow_tasks_run", "workflow_runs_pkey"],
  ],
  "release leases of tasks": [(sql) => releaseLeases(sql, held), "workflow_tasks_pkey", "workflow_tasks_run"],
  "find known events of runs": [(sql) => findKnownMail(sql, mail), "workflow_mailbox_pkey"],
  "lease jobs": [
    (sql) => leaseJobs(sql, { kinds: ["a", "b"], limit: batch, token: "x", leaseMs: 1000 }),
    ...["jobs_due", "jobs_leased", "jobs_pkey"],
  ],
  "read events by id": [(sql) => eventStore(sql).findMany(held), "events_pkey"],
  "delete expired events": [
    (sql) => deleteBatch(sql, { table: "events", where: sql`tenant_id = ${tenantId} and id > ${readyIds[0]!}` }, batch),
    "events_pkey",
  ],
};

/** Statements of other connections whose best index the planner only recognizes by statistics, which autovacuum collects. */
const withStatistics: Record<string, Golden> = {
  "claim deliveries to runs": [
    (sql) => deliveryStore(sql).claimDue(batch, 1000),
    ...["workflow_stream_deliveries_due", "workflow_stream_deliveries_pkey"],
  ],
  "lease items by id": [
    (sql) => leaseItems(sql, { ...lease, ids: readyIds }),
    ...["queue_items_pkey", "queue_items_waiting"],
  ],
  "read limited items by id": [
    (sql) => namedCandidates(sql, lease, readyIds),
    ...["queue_items_pkey", "queue_items_waiting"],
  ],
  "lease tasks of preferred runs": [
    (sql) => claims.leasePreferredTasks(sql, queue, "b", kinds, preferred, slots),
    ...["workflow_tasks_run", "workflow_tasks_pkey"],
  ],
};

/** Inserts rows of one tenant into every large table. */
async function fill(sql: Sql, from: number, to: number): Promise<void> {
  const id = sql`lpad(n::text, 26, '0')`;
  const rows = sql`generate_series(${from}::int, ${to}::int) n`;
  const isLeased = sql`n % 4 = 0`;
  const token = sql`case when ${isLeased} then 'token' else '' end`;
  const leaseUntil = sql`case when ${isLeased} then now() + interval '1 hour' + n * interval '1 ms' end`;
  const past = sql`now() - interval '1 day' + n * interval '1 ms'`;
  await sql`
    insert into queue_items (tenant_id, id, pool_id, recipient_id, state, delivery, priority, rank, expires_at, type, key,
      attributes, requirements, payload, evidence, decided_priority, outcome, decided_for, snapshot_digest, seed,
      singleton_group, hold_reason, attempt, due_at, lease_token, lease_until, leased_at)
    select ${tenantId}, ${id}, ${poolId}, case when ${isLeased} then 'r1' else '' end,
      (array['leased', 'ready', 'pending', 'ready'])[n % 4 + 1], 'pull', 0, n, now() + interval '1 day', 't', 'k', '{}', '{}',
      '{}', '{}', 0, 'queued', '', '', 0, case when ${isLeased} then ${id} else '' end, '', 1,
      case when n % 4 = 2 then ${past} end, ${token}, ${leaseUntil}, case when ${isLeased} then now() end
    from ${rows}`;
  await sql`
    insert into admission_groups (tenant_id, kind, group_id, environment_id, pool_id, item_id, updated_at)
    select ${tenantId}, 'singleton', ${id}, ${environmentId}, ${poolId}, ${id}, now() from ${rows}`;
  await sql`
    insert into workflow_runs (tenant_id, id, environment_id, definition_id, version, run_key, status, state, revision, shard,
      origin, parent_run_id, unread, created_at)
    select ${tenantId}, ${id}, ${environmentId}, ${environmentId}, 1, '', 'running', '{}', 1, 0, '{}', '', 0, now()
    from ${rows}`;
  await sql`
    insert into workflow_tasks (tenant_id, id, environment_id, run_id, step_key, queue, type, version_range, state, attempt,
      input, ready_at, attempt_ms, heartbeat_ms, lease_token, worker_id, lease_until, created_at)
    select ${tenantId}, ${id}, ${environmentId}, ${id}, 'a', 'q', (array['a', 'b', 'c'])[n % 3 + 1], '',
      case when ${isLeased} then 'leased' else 'ready' end, 1, '{}', ${past}, 1000, 0, ${token}, 'w', ${leaseUntil}, now()
    from ${rows}`;
  await sql`
    insert into workflow_mailbox (tenant_id, run_id, event_id, revision, event, scope, payload, received_at, consumed_by)
    select ${tenantId}, ${id}, ${id}, 1, 'e', '', '{}', now(), '' from ${rows}`;
  await sql`
    insert into workflow_stream_heads (tenant_id, run_id, stream_id, first_sequence, last_sequence, first_cum_bytes,
      last_cum_bytes)
    select ${tenantId}, ${id}, ${id}, 1, 0, 0, 0 from ${rows}`;
  await sql`
    insert into workflow_stream_deliveries (tenant_id, run_id, stream_id, sequence, due_at)
    select ${tenantId}, ${id}, ${id}, 1, ${past} from ${rows}`;
  await sql`
    insert into jobs (tenant_id, id, kind, run_at, max_attempts, created_at, state, lease_until)
    select ${tenantId}, ${id}, (array['a', 'b', 'c'])[n % 3 + 1], ${past}, 1, now(),
      case when ${isLeased} then 'leased' else 'ready' end, ${leaseUntil} from ${rows}`;
  await sql`
    insert into idempotency_records (tenant_id, principal, operation, key, fingerprint, state, created_at)
    select ${tenantId}, 'p', 'o', ${id}, '', 'pending', now() from ${rows}`;
  await sql`
    insert into events (tenant_id, id, type, source, time) select ${tenantId}, ${id}, 't', '/t', now() from ${rows}`;
}

/**
 * How many entries or pages a statement reads, by index, and by table for a sequential scan. Only of tables that are filled.
 * What it changes is rolled back.
 */
async function countReads(on: Connections, run: Run): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  const read = async (tx: Sql) => {
    const rows = await tx<{ name: string; scans: number; entries: number; pages: number }[]>`
      select c.relname as name, pg_stat_get_xact_numscans(c.oid)::int as scans,
        pg_stat_get_xact_tuples_returned(c.oid)::int as entries, pg_stat_get_xact_blocks_fetched(c.oid)::int as pages
      from pg_class c left join pg_index i on i.indexrelid = c.oid
      where coalesce(i.indrelid, c.oid) = any(${filledTables}::text[]::regclass[]) order by 1`;
    return new Map(rows.map((row) => [row.name, row]));
  };
  await undo(on, async (tx) => {
    const earlier = await read(tx);
    await run(tx);
    for (const [name, { scans, entries, pages }] of await read(tx)) {
      const before = earlier.get(name)!;
      // Without a condition on its first columns, an index is read as a whole for a few entries.
      if (scans > before.scans) found.set(name, Math.max(entries - before.entries, pages - before.pages));
    }
  });
  return found;
}

async function undo(on: Connections, run: Run): Promise<void> {
  const undone = new Error("undone");
  const work = on.transaction(async (tx) => {
    await run(tx);
    throw undone;
  });
  await assert.rejects(work, undone);
}

const filledTables = [
  ...[
    "queue_items",
    "idempotency_records",
    "admission_groups",
    "workflow_runs",
    "workflow_tasks",
    "workflow_mailbox",
    "workflow_stream_heads",
  ],
  ...["workflow_stream_deliveries", "jobs", "events"],
];

/** Describes each statement that reads another index, a whole table or too much. */
async function faultsOf(on: Connections, golden: Record<string, Golden>): Promise<string[]> {
  const faults: string[] = [];
  for (const [name, [run, ...indexes]] of Object.entries(golden)) {
    const reads = await countReads(on, run);
    const isExpected = [...reads].every(([index, count]) => indexes.includes(index) && count <= readsMax);
    if (!isExpected) faults.push(`${name}: ${[...reads].map(([index, count]) => `${index} ${count}`).join(", ")}`);
  }
  return faults;
}

/** Executes statements until PostgreSQL has decided on their plans. */
async function plan(on: Connections, golden: Record<string, Golden>): Promise<void> {
  for (const [run] of Object.values(golden)) {
    for (let execution = 0; execution < executions; execution++) await undo(on, run);
  }
}

async function opened(t: TestContext) {
  const { url, sql, drop } = await freshDatabase();
  const open = (maxConnections: number, genericPlanConnections: number) => {
    const db = openDatabase(url, { maxConnections, genericPlanConnections, statementMs: 600_000 });
    t.after(() => db.close());
    return db;
  };
  t.after(drop);
  // Each test says which statistics there are.
  for (const table of filledTables) await sql.unsafe(`alter table ${table} set (autovacuum_enabled = off)`);
  return { sql, open };
}

test("statements planned for empty tables look up each row by its index when the tables are large", async (t) => {
  const { sql, open } = await opened(t);
  const db = open(2, 1);
  await plan(db.genericPlans, genericPlans);
  await plan(db, others);
  await fill(sql, 4, rowCount);
  assert.deepEqual(await faultsOf(db.genericPlans, genericPlans), []);
  assert.deepEqual(await faultsOf(db, others), []);
});

for (const [state, rows] of [
  ["empty", 0],
  ["small", 100],
] as const) {
  test(`plans of generic-plan connections with the statistics of ${state} tables suit large ones`, async (t) => {
    const { sql, open } = await opened(t);
    await fill(sql, 4, 3 + rows);
    await sql.unsafe("vacuum analyze");
    const db = open(2, 1);
    await plan(db.genericPlans, genericPlans);
    await fill(sql, 4 + rows, rowCount);
    assert.deepEqual(await faultsOf(db.genericPlans, genericPlans), []);
  });
}

test("a lease from the head of a queue steps over no dead rows that an old snapshot keeps, also after PostgreSQL has analyzed the rest", async (t) => {
  const { sql, open } = await opened(t);
  const [ended, rows] = [4000, 100];
  await fill(sql, 4, ended);
  // The index of the order becomes larger than that of the ids.
  await sql`update queue_items set state = 'ready', recipient_id = ${"r".repeat(200)}`;
  const [db, holder] = [open(2, 1), open(1, 0)];
  const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = holder.transaction(async (tx) => {
    await tx`set transaction isolation level repeatable read`;
    await tx`select from queue_items limit 1`;
    held.resolve();
    await released.promise;
  });
  await held.promise;
  await sql`delete from queue_items`;
  await sql.unsafe("vacuum analyze queue_items");
  const fromHead = (tx: Sql) => leaseItems(tx, { ...lease, fromRank: ended + 1 });
  const golden: Record<string, Golden> = { "lease from the head": [fromHead, "queue_items_ready", "queue_items_pkey"] };
  await plan(db.genericPlans, golden);
  await fill(sql, ended + 1, ended + rows);
  assert.deepEqual(await faultsOf(db.genericPlans, golden), []);
  released.resolve();
  await holding;
});

test("with statistics, PostgreSQL's own settings look up each row by its index", async (t) => {
  const { sql, open } = await opened(t);
  await fill(sql, 4, rowCount);
  await sql.unsafe("vacuum analyze");
  const db = open(1, 0);
  assert.deepEqual(await faultsOf(db, { ...genericPlans, ...others, ...withStatistics }), []);
  await plan(db, { ...others, ...withStatistics });
  assert.deepEqual(await faultsOf(db, { ...others, ...withStatistics }), []);
});
