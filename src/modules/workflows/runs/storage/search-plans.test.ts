import assert from "node:assert/strict";
import { before, test } from "node:test";
import { afterFile } from "../../../../../test/harness/after-file.ts";
import { freshTenant } from "../../../../../test/harness/context.ts";
import { freshDatabase } from "../../../../../test/harness/postgres.ts";
import { type Database, openDatabase, type Sql } from "../../../../platform/db/index.ts";
import { loadLeasedTasks, loadRuns } from "./run-loader.ts";
import type { RunWrite } from "./run-write.ts";
import { updateRuns } from "./run-writer.ts";

// Generic plans are made while the tables are almost empty, as after a start of the service, and are used when they are not.
const runCount = 300;
const batch = 10;
const tenantId = freshTenant();
const environmentId = freshTenant();
const idOf = (n: number) => String(n).padStart(26, "0");
const refs = Array.from({ length: batch }, (_, n) => ({ tenantId, id: idOf(n) }));

let db: Database;
before(async () => {
  const { url } = await freshDatabase();
  db = openDatabase(url, { maxConnections: 3, genericPlanConnections: 1 });
  afterFile(() => db.close());
  await db.sql.unsafe("vacuum analyze workflow_runs");
  await db.sql.unsafe("vacuum analyze workflow_tasks");
  const { sql } = db.genericPlans;
  await loadRuns(sql, refs);
  await loadLeasedTasks(sql, refs);
  await updateRuns(sql, refs.map(toWrite), noShards);
  await insertRuns();
});

/** Inserts runs of one tenant, each with a leased task of the same id. */
async function insertRuns(): Promise<void> {
  await db.sql`
    insert into workflow_runs (tenant_id, id, environment_id, definition_id, version, run_key, status, state, revision, shard,
      origin, parent_run_id, unread, created_at)
    select ${tenantId}, lpad(n::text, 26, '0'), ${environmentId}, ${idOf(1)}, 1, '', 'running', '{}', 1, 0, '{}', '', 0, now()
    from generate_series(0, ${runCount - 1}::int) n`;
  await db.sql`
    insert into workflow_tasks (tenant_id, id, environment_id, run_id, step_key, queue, type, version_range, state, attempt,
      input, ready_at, attempt_ms, heartbeat_ms, lease_token, worker_id, lease_until, created_at)
    select tenant_id, id, environment_id, id, 'a', 'q', 't', '', 'leased', 1, '{}', now(), 1000, 0, 'token', 'w', now(), now()
    from workflow_runs`;
}

const toWrite = ({ id }: { id: string }): RunWrite => ({
  ...{ tenantId, id, environmentId, inProduction: true, revision: 1, status: "running", stateJson: "{}", unread: 0 },
  ...{ wakeAtMs: undefined, end: undefined, historyJson: "[]", newTasks: [], retriedTasks: [], endedTasks: [id] },
  ...{ hold: undefined, newMail: [], consumedMail: [], cancelledRuns: [], events: [] },
  ...{ newApprovals: [], decidedApprovals: [], closedApprovals: [] },
  ...{ records: [], epoch: undefined },
});
const noShards = (sql: Sql) => sql`select 0 as shard`;

/** The number of rows of runs and tasks that a piece of work reads. */
async function rowsRead(work: (sql: Sql) => Promise<unknown>): Promise<number> {
  return db.genericPlans.transaction(async (tx) => {
    const read = async () => {
      const [row] = await tx<{ count: number }[]>`
        select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as count from pg_stat_xact_user_tables
        where relname in ('workflow_runs', 'workflow_tasks')`;
      return row!.count;
    };
    const earlier = await read();
    await work(tx);
    return (await read()) - earlier;
  });
}

test("runs and leased tasks are read by their ids, however many others their tenant has", async () => {
  assert.equal(await rowsRead((sql) => loadRuns(sql, refs)), batch);
  assert.equal(await rowsRead((sql) => loadLeasedTasks(sql, refs)), batch);
});

test("an advance locks and changes its rows by their ids, however many others the tenant has", async () => {
  assert.equal(await rowsRead((sql) => updateRuns(sql, refs.map(toWrite), noShards)), 3 * batch);
  const [left] = await db.sql<{ tasks: number }[]>`select count(*)::int as tasks from workflow_tasks`;
  assert.deepEqual(left, { tasks: runCount - batch });
});
