import type { TenantId } from "../../../../platform/access/index.ts";
import type { Fragment, Sql } from "../../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../../platform/paging/index.ts";
import type { Run } from "../domain/run.ts";
import { hasEnded } from "../domain/run-states.ts";

/** A run whose status changed because time passed. */
export type OverdueRun = Pick<Run, "tenantId" | "id" | "packId" | "environmentId" | "status">;

export function runStore(sql: Sql) {
  const columns = sql`
    tenant_id, id, pack_id, environment_id, environment_key, candidate_id, type, mode, subjects, status, fence, token_digest,
    lease_s, lease_until, deadline_at, ended_at, reason, receipt_id, created_at, updated_at, record_version`;

  function readOne(tenantId: TenantId, id: string, lock: Fragment): Promise<Run | undefined> {
    return sql<Run[]>`
      select ${columns} from evidence_runs where tenant_id = ${tenantId} and id = ${id} ${lock}`.first();
  }

  return {
    find: (tenantId: TenantId, id: string) => readOne(tenantId, id, sql``),

    /** Finds a run and locks it until the transaction ends. */
    lock: (tenantId: TenantId, id: string) => readOne(tenantId, id, sql`for update`),

    async insert(run: Run): Promise<Run> {
      const [row] = await sql<Run[]>`
        insert into evidence_runs (tenant_id, id, pack_id, environment_id, environment_key, candidate_id, type, mode,
          subjects, status, fence, token_digest, lease_s, lease_until, deadline_at, due_at, reason, receipt_id, created_at,
          updated_at)
        values (${run.tenantId}, ${run.id}, ${run.packId}, ${run.environmentId}, ${run.environmentKey}, ${run.candidateId},
          ${run.type}, ${run.mode}, ${sql.json(run.subjects as never)}, ${run.status}, ${run.fence}, ${run.tokenDigest},
          ${run.leaseS}, ${run.leaseUntil}, ${run.deadlineAt}, ${dueAt(run)}, ${run.reason}, ${run.receiptId},
          ${run.createdAt}, ${run.updatedAt})
        returning ${columns}`;
      return row!;
    },

    /** Writes a locked run. */
    async save(run: Run, now: Date): Promise<Run> {
      const [row] = await sql<Run[]>`
        update evidence_runs set status = ${run.status}, fence = ${run.fence}, token_digest = ${run.tokenDigest},
          lease_until = ${run.leaseUntil}, due_at = ${dueAt(run)}, ended_at = ${run.endedAt}, reason = ${run.reason},
          receipt_id = ${run.receiptId}, updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${run.tenantId} and id = ${run.id}
        returning ${columns}`;
      return row!;
    },

    async countOpen(tenantId: TenantId, packId: string): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from evidence_runs
        where tenant_id = ${tenantId} and pack_id = ${packId} and due_at is not null and deadline_at > clock_timestamp()`;
      return row!.count;
    },

    async list(tenantId: TenantId, packId: string, page: Page): Promise<PageRows<Run>> {
      const where = sql`tenant_id = ${tenantId} and pack_id = ${packId}`;
      return readKeyset<Run>(sql, { columns, table: "evidence_runs", where }, page);
    },

    /** Stores the status of runs whose lease or deadline has passed. A run that a call holds is left for later. */
    async endOverdue(limit: number): Promise<OverdueRun[]> {
      return sql<OverdueRun[]>`
        with overdue as (
          select tenant_id, id, deadline_at <= now() as ends from evidence_runs
          where due_at <= now() order by due_at limit ${limit} for update skip locked)
        update evidence_runs run set
          status = case when ends then 'deadline_exceeded' else 'lease_expired' end,
          token_digest = '',
          ended_at = case when ends then deadline_at end,
          due_at = case when ends then null else deadline_at end,
          updated_at = now(), record_version = record_version + 1
        from overdue where run.tenant_id = overdue.tenant_id and run.id = overdue.id
        returning run.tenant_id, run.id, run.pack_id, run.environment_id, run.status`;
    },
  };
}

/** When the status changes without a call; null after the end. */
function dueAt({ status, leaseUntil, deadlineAt }: Run): Date | null {
  if (hasEnded(status)) return null;
  return status === "running" ? leaseUntil : deadlineAt;
}
