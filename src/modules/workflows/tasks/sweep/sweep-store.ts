import type { TenantId } from "../../../../platform/access/index.ts";
import type { NextDue, Sql } from "../../../../platform/db/index.ts";

/** A lease that ended before its worker reported a result. */
export interface ExpiredLease {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly runId: string;
  readonly token: string;
  readonly hasHeartbeats: boolean;
  /** Whether the attempt has taken its full time. */
  readonly isTimedOut: boolean;
}

/** Finds leases that have ended by the database's clock, except those with these tokens. */
export async function findExpiredLeases(sql: Sql, except: readonly string[], limit: number): Promise<ExpiredLease[]> {
  return sql<ExpiredLease[]>`
    select tenant_id, id, run_id, lease_token as token, heartbeat_ms > 0 as has_heartbeats,
      attempt_until <= now() as is_timed_out
    from workflow_tasks
    where state = 'leased' and lease_until < now() and lease_token <> all(${except as string[]}::text[])
    order by lease_until limit ${limit}`;
}

/** When the next lease ends. */
export const nextExpiry: NextDue = (sql) => sql`select min(lease_until) from workflow_tasks where state = 'leased'`;
