import { type Backlog, type Fragment, fromNow, hasKey, mayRunJobs, type Sql } from "../db/index.ts";
import { ulid } from "../ids/ulid.ts";

/** A job to enqueue. */
export interface NewJob {
  readonly tenantId: string;
  readonly kind: string;
  readonly payload?: object;
  readonly runAt: Date;
  /** A job is dropped while another job with the same key is waiting or running. */
  readonly dedupeKey?: string;
  readonly maxAttempts?: number;
}

/** A job that this node may run until its lease expires. */
export interface LeasedJob {
  readonly tenantId: string;
  readonly id: string;
  readonly kind: string;
  readonly payload: unknown;
  readonly dedupeKey: string | null;
  readonly attempts: number;
  readonly maxAttempts: number;
  /** A new token for every lease. A node with an older token can no longer change the job. */
  readonly leaseToken: string;
}

/** Inserts jobs in the transaction that causes them. */
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

/** Leases due jobs and jobs with an expired lease. The database clock decides, because nodes' clocks may differ. */
export async function leaseJobs(
  sql: Sql,
  { kinds, limit, token, leaseMs }: { kinds: readonly string[]; limit: number; token: string; leaseMs: number },
): Promise<LeasedJob[]> {
  return sql<LeasedJob[]>`
    with due as materialized (
      select j.* from unnest(${kinds as string[]}::text[]) as wanted(kind) cross join lateral (
        select tenant_id, id, run_at from jobs j
        where j.kind = wanted.kind and j.state = 'ready' and j.run_at <= now() and ${mayRunJobs(sql, sql`j.tenant_id`)}
        order by j.run_at limit ${limit} for update skip locked
      ) j
    ), expired as materialized (
      select tenant_id, id, run_at from jobs
      where state = 'leased' and lease_until < now() and kind = any(${kinds as string[]}::text[]) and ${mayRunJobs(sql, sql`tenant_id`)}
      order by lease_until limit ${limit} for update skip locked
    )
    update jobs j set state = 'leased', lease_token = ${token}, lease_until = ${fromNow(sql, leaseMs)},
      attempts = attempts + 1
    from (select * from due union all select * from expired order by run_at limit ${limit}) n where ${hasKey(sql, "j", "n")}
    returning j.tenant_id, j.id, kind, payload, dedupe_key, attempts, max_attempts, lease_token`;
}

/** Jobs that no node has leased yet. */
export const waitingJobs: Backlog = {
  name: "jobs",
  rows: (sql) => sql`select run_at, id from jobs where state = 'ready'`,
};

/** When the next job of these kinds is due, or the next lease expires. */
export function nextJobDue(sql: Sql, kinds: readonly string[]): Fragment {
  return sql`
    select least((select min(lease_until) from jobs where state = 'leased'), (
      select min((select min(run_at) from jobs where jobs.kind = wanted.kind and state = 'ready'))
      from unnest(${kinds as string[]}::text[]) as wanted(kind)))`;
}

/** Renews the leases of running jobs; returns id and token, concatenated, of each lease that is still held. */
export async function renewJobs(sql: Sql, jobs: readonly LeasedJob[], leaseMs: number): Promise<ReadonlySet<string>> {
  const rows = await sql<{ id: string; leaseToken: string }[]>`
    update jobs set lease_until = ${fromNow(sql, leaseMs)}
    where (tenant_id, id, lease_token) in (
      select * from unnest(${jobs.map((job) => job.tenantId)}::text[], ${jobs.map((job) => job.id)}::text[],
        ${jobs.map((job) => job.leaseToken)}::text[]))
    returning id, lease_token`;
  return new Set(rows.map((row) => row.id + row.leaseToken));
}

/** Deletes a completed job. Does nothing if another node has leased it meanwhile. */
export async function completeJob(sql: Sql, { tenantId, id, leaseToken }: LeasedJob): Promise<void> {
  await sql`delete from jobs where tenant_id = ${tenantId} and id = ${id} and lease_token = ${leaseToken}`;
}

/** The new state of a job whose lease is released. */
export interface JobRelease {
  readonly state: "ready" | "failed";
  readonly waitMs: number;
  readonly attempts: number;
  readonly error: string;
}

/** Releases the lease of a job, either for a later retry or as failed when its attempts are used up. */
export async function releaseJob(
  sql: Sql,
  { tenantId, id, leaseToken }: LeasedJob,
  { state, waitMs, attempts, error }: JobRelease,
): Promise<void> {
  await sql`
    update jobs set state = ${state}, run_at = ${fromNow(sql, waitMs)}, attempts = ${attempts}, last_error = ${error},
      lease_token = null, lease_until = null
    where tenant_id = ${tenantId} and id = ${id} and lease_token = ${leaseToken}`;
}
