import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import type { Page } from "../../../../platform/paging/index.ts";
import { recordTable } from "../../../../platform/records/index.ts";
import type { Run } from "../domain/run.ts";
import { hasEnded } from "../domain/run-states.ts";

/** A run whose status changed because time passed. */
export type OverdueRun = Pick<Run, "tenantId" | "id" | "packId" | "environmentId" | "status">;

const runs = recordTable<Run, { readonly dueAt: Date | null }>("evidence_runs", {
  fixed: `tenant_id id pack_id environment_id environment_key candidate_id type mode subjects lease_s deadline_at
    created_at`,
  mutable: "status fence token_digest lease_until ended_at reason receipt_id updated_at record_version",
  internal: "due_at",
});

export function runStore(sql: Sql) {
  const { insert, find, lock, update, listWhere } = runs(sql);
  return {
    find,
    lock,
    insert: (run: Run) => insert({ ...run, dueAt: dueAt(run) }),

    /** Writes a locked run. */
    async save(run: Run, now: Date): Promise<Run> {
      return (await update(run.tenantId, run.id, { ...run, dueAt: dueAt(run) }, undefined, now))!;
    },

    async countOpen(tenantId: TenantId, packId: string): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from evidence_runs
        where tenant_id = ${tenantId} and pack_id = ${packId} and due_at is not null and deadline_at > clock_timestamp()`;
      return row!.count;
    },

    list: (tenantId: TenantId, packId: string, page: Page) => listWhere(tenantId, { packId }, page),

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
