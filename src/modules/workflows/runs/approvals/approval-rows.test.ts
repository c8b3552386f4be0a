import assert from "node:assert/strict";
import { before, test } from "node:test";
import { afterFile } from "../../../../../test/harness/after-file.ts";
import { freshTenant } from "../../../../../test/harness/context.ts";
import { freshDatabase } from "../../../../../test/harness/postgres.ts";
import { type Database, openDatabase, type Sql } from "../../../../platform/db/index.ts";
import type { ApprovalDecisions, ApprovalWrite, RunWrite } from "../storage/run-write.ts";
import { updateRuns } from "../storage/run-writer.ts";

const runCount = 300;
const batch = 10;
const tenantId = freshTenant();
const environmentId = freshTenant();
const definitionId = freshTenant();
const idOf = (n: number) => String(n).padStart(26, "0");
const noShards = (sql: Sql) => sql`select 0 as shard`;
const write = (sql: Sql, writes: readonly RunWrite[]) => updateRuns(sql, writes, noShards);

let db: Database;
before(async () => {
  const { url } = await freshDatabase();
  db = openDatabase(url, { maxConnections: 3, genericPlanConnections: 1 });
  afterFile(() => db.close());
  await db.sql.unsafe("vacuum analyze workflow_approvals");
  // Generic plans are made while the tables are empty, as after a start of the service.
  const change = { decidedApprovals: [decisionsOf("ask")], closedApprovals: ["other"] };
  await write(db.genericPlans.sql, someRuns(0, change));
  await db.sql`
    insert into workflow_runs (tenant_id, id, environment_id, definition_id, version, run_key, status, state, revision, shard,
      origin, parent_run_id, unread, created_at)
    select ${tenantId}, lpad(n::text, 26, '0'), ${environmentId}, ${definitionId}, 1, '', 'waiting', '{}', 1, 0, '{}', '', 0,
      now()
    from generate_series(0, ${runCount - 1}::int) n`;
  const open = { newApprovals: [approvalOf("ask"), approvalOf("other")] };
  const runs = Array.from({ length: runCount }, (_, n) => toWrite(n, 1, open));
  assert.equal((await write(db.genericPlans.sql, runs)).size, runCount);
});

function toWrite(n: number, revision: number, change: Partial<RunWrite>): RunWrite {
  const own = (approval: ApprovalWrite) => ({ ...approval, id: idOf(2 * n + (approval.stepKey === "ask" ? 0 : 1)) });
  return {
    ...{ tenantId, id: idOf(n), environmentId, inProduction: true, revision, status: "waiting", stateJson: "{}" },
    ...{ unread: 0, wakeAtMs: undefined, end: undefined, historyJson: "[]", newTasks: [], retriedTasks: [] },
    ...{ endedTasks: [], hold: undefined, newMail: [], consumedMail: [], cancelledRuns: [], events: [] },
    ...{ decidedApprovals: [], closedApprovals: [], records: [], epoch: undefined, ...change },
    newApprovals: (change.newApprovals ?? []).map(own),
  };
}

const someRuns = (revision: number, change: Partial<RunWrite>) =>
  Array.from({ length: batch }, (_, n) => toWrite(n, revision, change));

function approvalOf(stepKey: string, title = "Refund"): ApprovalWrite {
  return {
    ...{ id: "", stepKey, environmentKey: "production", definitionId, definitionKey: "refund", runKey: "", title },
    ...{ detailsJson: "{}", by: ["role:admin", "user:ann"], quorum: 1, commentRequired: false, decisionsJson: "[]" },
    ...{ decidedBy: [], openedAtMs: 1000, dueAtMs: 2000 },
  };
}

function decisionsOf(stepKey: string): ApprovalDecisions {
  const decision = { by: "ann", approved: true, comment: "", at: new Date(0).toISOString() };
  return { stepKey, decisionsJson: JSON.stringify([decision]), decidedBy: ["ann"] };
}

/** The approvals of the first runs, each as its step and who has decided. */
async function approvals(): Promise<string[]> {
  const rows = await db.sql<{ stepKey: string; decidedBy: string[] }[]>`
    select step_key, decided_by from workflow_approvals
    where tenant_id = ${tenantId} and run_id < ${idOf(batch)} order by id`;
  return rows.map(({ stepKey, decidedBy }) => [stepKey, ...decidedBy].join(" "));
}

/** Measures the reads and writes of some work in the table of approvals. */
async function usageOf(work: (sql: Sql) => Promise<unknown>) {
  return db.genericPlans.transaction(async (tx) => {
    const read = async () => {
      const [row] = await tx<{ scans: number; rows: number }[]>`
        select (seq_scan + idx_scan)::int as scans, (seq_tup_read + idx_tup_fetch)::int as rows
        from pg_stat_xact_user_tables where relname = 'workflow_approvals'`;
      return row!;
    };
    const earlier = await read();
    await work(tx);
    const later = await read();
    return { scans: later.scans - earlier.scans, rows: later.rows - earlier.rows };
  });
}

test("an advance of a run that has changed since it was read changes no approval", async () => {
  const change = {
    newApprovals: [approvalOf("third")],
    decidedApprovals: [decisionsOf("ask")],
    closedApprovals: ["other"],
  };
  assert.equal((await write(db.genericPlans.sql, someRuns(1, change))).size, 0);
  assert.deepEqual(
    await approvals(),
    someRuns(2, {}).flatMap(() => ["ask", "other"]),
  );
});

test("an approval that cannot be stored leaves its run as it was", async () => {
  await db.sql`alter table workflow_approvals add constraint refuses check (title <> 'refused')`;
  const refused = { newApprovals: [approvalOf("third", "refused")], closedApprovals: ["other"] };
  await assert.rejects(write(db.genericPlans.sql, someRuns(2, refused)), /refuses/);
  assert.deepEqual(
    await approvals(),
    someRuns(2, {}).flatMap(() => ["ask", "other"]),
  );
  const rows = await db.sql<{ revision: number }[]>`select distinct revision from workflow_runs`;
  assert.deepEqual(
    rows.map(({ revision }) => revision),
    [2],
  );
});

test("approvals are changed and deleted by their steps, however many others the tenant has", async () => {
  const change = { decidedApprovals: [decisionsOf("ask")], closedApprovals: ["other"] };
  const { rows } = await usageOf((sql) => write(sql, someRuns(2, change)));
  assert.equal(rows, 2 * batch);
  assert.deepEqual(
    await approvals(),
    someRuns(3, {}).map(() => "ask ann"),
  );
});

test("an advance without approvals does not touch their table", async () => {
  assert.deepEqual(await usageOf((sql) => write(sql, someRuns(3, {}))), { scans: 0, rows: 0 });
});
