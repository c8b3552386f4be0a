import assert from "node:assert/strict";
import { test } from "node:test";
import { freshTenant, testDatabase } from "../../../../test/harness/context.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Database } from "../../../platform/db/index.ts";
import type { Log } from "../../../platform/log/log.ts";
import { createEvidenceLog } from "./evidence-log.ts";
import { evidenceCleanupJob } from "./jobs.ts";
import { evidenceMax } from "./store.ts";

const db = await testDatabase();
const log = { warn() {} } as unknown as Log;
const call = { operation: "o", mode: "strict", verdict: "deny", reason: "missing", snapshotVersion: 1 } as const;

async function countsOf(tenantId: TenantId): Promise<number[]> {
  const rows = await db.sql<{ count: number }[]>`
    select count from entitlement_evidence where tenant_id = ${tenantId} order by item`;
  return rows.map(({ count }) => count);
}

test("evidence that waits to be stored is bounded: equal calls are still counted, and others are dropped", async () => {
  const tenantId = freshTenant();
  let dropped = 0;
  const evidence = createEvidenceLog({ db, log, onDropped: () => dropped++, entriesMax: 3 });
  for (let n = 0; n < 10; n++) evidence.add({ ...call, tenantId, item: `i${n % 5}` }, 60_000);
  assert.equal(dropped, 4);
  await evidence.flush();
  assert.deepEqual(await countsOf(tenantId), [2, 2, 2]);
});

test("evidence that cannot be stored is stored later, once", async () => {
  const tenantId = freshTenant();
  let isDown = true;
  const failing = (...args: unknown[]) => {
    if (isDown) throw new Error("the database is down");
    return (db.sql as unknown as (...all: unknown[]) => unknown)(...args);
  };
  const flaky = { sql: Object.assign(failing, db.sql) } as unknown as Database;
  const evidence = createEvidenceLog({ db: flaky, log, onDropped: () => assert.fail("dropped") });
  evidence.add({ ...call, tenantId, item: "i" }, 60_000);
  await evidence.flush();
  evidence.add({ ...call, tenantId, item: "i" }, 60_001);
  isDown = false;
  await evidence.stop();
  await evidence.flush();
  assert.deepEqual(await countsOf(tenantId), [2]);
});

test("evidence is deleted after its retention, and a tenant has a bounded number of rows: the newest", async () => {
  const dayMs = 86_400_000;
  const nowMs = Date.UTC(2026, 5, 1);
  const [old, busy] = [freshTenant(), freshTenant()];
  await db.sql`
    insert into entitlement_evidence
    select ${old}, lpad(n::text, 26, '0'), ${new Date(nowMs)}::timestamptz - n * interval '1 day', 'i', 'o', 'strict', 'deny',
      'missing', 1, 1
    from generate_series(1, 40) n`;
  await db.sql`
    insert into entitlement_evidence
    select ${busy}, lpad(n::text, 26, '0'), ${new Date(nowMs)}::timestamptz, 'i', 'o', 'strict', 'deny', 'missing', 1, 1
    from generate_series(1, ${evidenceMax + 50}::int) n`;
  const job = evidenceCleanupJob({
    db,
    clock: { now: () => nowMs },
    retentionDays: 30,
    platformTenantId: () => "",
  });
  await job.handler({ tenantId: "", id: "", payload: {}, attempt: 1, signal: new AbortController().signal });
  const rows = await db.sql<{ tenantId: string; count: number; oldest: Date; first: string }[]>`
    select tenant_id, count(*) as count, min(minute) as oldest, min(id) as first from entitlement_evidence
    where tenant_id in (${old}, ${busy}) group by tenant_id`;
  const byTenant = new Map(rows.map((row) => [row.tenantId, row]));
  assert.ok(byTenant.get(old)!.oldest.getTime() >= nowMs - 30 * dayMs);
  assert.equal(byTenant.get(old)!.count, 30);
  assert.equal(byTenant.get(busy)!.count, evidenceMax);
  assert.equal(Number(byTenant.get(busy)!.first), 51, "the oldest are deleted");
});
