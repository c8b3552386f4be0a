import type { Sql } from "../db/index.ts";
import { ulid } from "../ids/ulid.ts";

/** A job to be written. */
export interface NewJob {
  readonly tenantId: string;
  readonly kind: string;
  readonly payload?: object;
  readonly runAt: Date;
  /** A second job with the same key is not written while the first one waits or runs. */
  readonly dedupeKey?: string;
  readonly maxAttempts?: number;
}

/** A job that this node may run until its lease ends. */
export interface LeasedJob {
  readonly tenantId: string;
  readonly id: string;
  readonly kind: string;
  readonly payload: unknown;
  readonly attempts: number;
  readonly maxAttempts: number;
}

/** Writes jobs, in the transaction that causes them. */
export async function enqueueJobs(sql: Sql, jobs: readonly NewJob[], nowMs: number): Promise<void> {
  const rows = jobs.map((job) => ({
    tenant_id: job.tenantId,
    id: ulid(nowMs),
    kind: job.kind,
    payload: job.payload ?? {},
    dedupe_key: job.dedupeKey ?? null,
    run_at: job.runAt.toISOString(),
    max_attempts: job.maxAttempts ?? 10,
    created_at: new Date(nowMs).toISOString(),
  }));
  await sql`
    insert into jobs (tenant_id, id, kind, payload, dedupe_key, run_at, max_attempts, created_at)
    select tenant_id, id, kind, payload, dedupe_key, run_at, max_attempts, created_at
    from jsonb_to_recordset(${sql.json(rows as never)}) as job(
      tenant_id text, id text, kind text, payload jsonb, dedupe_key text, run_at timestamptz, max_attempts int, created_at timestamptz)
    on conflict (tenant_id, kind, dedupe_key) where dedupe_key is not null and state <> 'failed' do nothing`;
}

/** Leases jobs that are due, and those whose lease ran out because their node died. */
export async function leaseJobs(
  sql: Sql,
  {
    kinds,
    limit,
    token,
    now,
    until,
  }: { kinds: readonly string[]; limit: number; token: string; now: Date; until: Date },
): Promise<LeasedJob[]> {
  return sql<LeasedJob[]>`
    update jobs set state = 'leased', lease_token = ${token}, lease_until = ${until}, attempts = attempts + 1
    where (tenant_id, id) in (
      select tenant_id, id from jobs
      where kind = any(${kinds as string[]})
        and ((state = 'ready' and run_at <= ${now}) or (state = 'leased' and lease_until < ${now}))
      order by run_at limit ${limit} for update skip locked)
    returning tenant_id, id, kind, payload, attempts, max_attempts`;
}

/** Renews the leases of jobs that still run. */
export async function renewJobs(sql: Sql, ids: readonly string[], token: string, until: Date): Promise<void> {
  await sql`update jobs set lease_until = ${until} where id = any(${ids as string[]}) and lease_token = ${token}`;
}

/** Removes a job that is done; does nothing when the lease went to another node meanwhile. */
export async function completeJob(sql: Sql, { tenantId, id }: LeasedJob, token: string): Promise<void> {
  await sql`delete from jobs where tenant_id = ${tenantId} and id = ${id} and lease_token = ${token}`;
}

/** Hands a job back: to be run again later, or for good when its attempts are used up. */
export async function releaseJob(
  sql: Sql,
  { tenantId, id }: LeasedJob,
  token: string,
  { state, runAt, error }: { state: "ready" | "failed"; runAt: Date; error: string },
): Promise<void> {
  await sql`
    update jobs set state = ${state}, run_at = ${runAt}, lease_token = null, lease_until = null, last_error = ${error}
    where tenant_id = ${tenantId} and id = ${id} and lease_token = ${token}`;
}
