import type { Sql } from "../../../../platform/db/index.ts";
import type { IdempotencyRecord } from "../../../../platform/idempotency/index.ts";

/** The job that cancels a run that no step waits for any more. It is stored with the advance that cancelled the step. */
export const cancelChildKind = "workflow.cancel_child";

/** Uses up the key that starts a child run. Waits for a start in progress; does nothing if the run was started. */
export async function forbidStart(sql: Sql, record: IdempotencyRecord): Promise<void> {
  const { tenantId, principal, operation, key, fingerprint, response, createdAt } = record;
  await sql`
    insert into idempotency_records (tenant_id, principal, operation, key, fingerprint, state, response, created_at)
    values (${tenantId}, ${principal}, ${operation}, ${key}, ${fingerprint}, 'completed', ${response}, ${createdAt})
    on conflict do nothing`;
}
