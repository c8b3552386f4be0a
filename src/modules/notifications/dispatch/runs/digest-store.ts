import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import type { DigestValues, NotificationRun } from "../domain/run.ts";
import type { EndedRun } from "./run-store.ts";

/** The total size of the payloads that a digest keeps. */
const keptBytesMax = 1024 * 1024;

/** A run that reaches a digest. */
export interface DigestEntry {
  readonly run: NotificationRun;
  readonly stepKey: string;
  readonly digestKey: string;
  /** The id of the digest, if the run opens it. */
  readonly newId: string;
  readonly closesAt: Date;
  readonly eventsMax: number;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** An open digest. */
export interface Digest {
  readonly id: string;
  /** The run that continues when the window ends. */
  readonly runId: string;
  readonly closesAt: Date;
  readonly totalCount: number;
}

/** A digest that has ended: what it collected, and the other runs, which end with it. */
interface ClosedDigest {
  readonly values: DigestValues;
  readonly digested: readonly EndedRun[];
}

/**
 * SQL queries for digests. A transaction locks runs of its own first, then digests; it never waits for other runs while it
 * holds a digest.
 */
export function digestStore(sql: Sql) {
  return {
    /** Adds a run to the open digest of its key, or opens one that the run leads. */
    async add(entry: DigestEntry): Promise<Digest & { readonly isKept: boolean }> {
      const { run, stepKey, digestKey, newId, closesAt, eventsMax, payload } = entry;
      // The row is locked from here on, so concurrent runs are added one after the other.
      const [digest] = await sql<(Digest & { keptCount: number; keptBytes: string })[]>`
        insert into notification_digests as digest (tenant_id, id, workflow_key, step_key, subscriber_id, digest_key,
          run_id, closes_at, total_count, kept_count, kept_bytes)
        values (${run.tenantId}, ${newId}, ${run.workflowKey}, ${stepKey}, ${run.subscriberId}, ${digestKey}, ${run.id},
          ${closesAt}, 1, 0, 0)
        on conflict (tenant_id, workflow_key, step_key, subscriber_id, digest_key) do update set
          total_count = digest.total_count + 1
        returning id, run_id, closes_at, total_count, kept_count, kept_bytes`;
      const { id, runId, closesAt: endsAt, totalCount, keptCount, keptBytes } = digest!;
      const text = JSON.stringify(payload);
      const bytes = Buffer.byteLength(text);
      // The first payload is always kept, so that a digest has a run that can lead it.
      const isKept = keptCount === 0 || (keptCount < eventsMax && Number(keptBytes) + bytes <= keptBytesMax);
      if (isKept) {
        await sql`
          with event as (
            insert into notification_digest_events (tenant_id, digest_id, run_id, transaction_id, payload, bytes, at)
            values (${run.tenantId}, ${id}, ${run.id}, ${run.transactionId}, ${text}::text::jsonb, ${bytes},
              ${run.createdAt})
          )
          update notification_digests set kept_count = kept_count + 1, kept_bytes = kept_bytes + ${bytes}
          where tenant_id = ${run.tenantId} and id = ${id}`;
      }
      return { id, runId, closesAt: endsAt, totalCount, isKept };
    },

    /** Closes the digest that a run leads: deletes it and completes the other runs; undefined when there is none. */
    async close({ tenantId, id }: EndedRun, now: Date): Promise<ClosedDigest | undefined> {
      const [digest] = await sql<{ id: string; totalCount: number }[]>`
        delete from notification_digests where tenant_id = ${tenantId} and run_id = ${id} returning id, total_count`;
      if (digest === undefined) return undefined;
      const events = await sql<{ payload: Record<string, unknown>; transactionId: string; runId: string; at: Date }[]>`
        delete from notification_digest_events where tenant_id = ${tenantId} and digest_id = ${digest.id}
        returning payload, transaction_id, run_id, at`;
      // A run that is being cancelled is locked. Its cancellation finds that the digest has ended.
      const digested = await sql<EndedRun[]>`
        update notification_runs set status = 'completed', reason = 'digested', updated_at = ${now}
        where tenant_id = ${tenantId} and id in (
          select id from notification_runs where tenant_id = ${tenantId} and status = 'collected'
            and id = any(${events.map(({ runId }) => runId)}::text[]) for update skip locked)
        returning tenant_id, id, transaction_id, workflow_key, subscriber_id, status, reason`;
      const ordered = events.toSorted((a, b) => a.at.getTime() - b.at.getTime() || (a.runId < b.runId ? -1 : 1));
      const values = {
        count: digest.totalCount,
        events: ordered.map(({ payload, transactionId, at }) => ({
          payload,
          transaction_id: transactionId,
          at: at.toISOString(),
        })),
      };
      return { values, digested };
    },

    /**
     * Removes runs from open digests; returns the ids of those that were in one. A digest that has lost its leader is led
     * by the oldest run that remains, or deleted if none does.
     */
    async leave(tenantId: TenantId, runIds: readonly string[], now: Date): Promise<string[]> {
      if (runIds.length === 0) return [];
      const ids = sql`${runIds as string[]}::text[]`;
      await sql`
        select from notification_digests where tenant_id = ${tenantId} and id in (
          select digest_id from notification_digest_events where tenant_id = ${tenantId} and run_id = any(${ids}))
        order by id for update`;
      const removed = await sql<{ digestId: string; runId: string }[]>`
        with removed as (
          delete from notification_digest_events where tenant_id = ${tenantId} and run_id = any(${ids})
          returning digest_id, run_id, bytes
        ), counted as (
          update notification_digests digest set total_count = total_count - sums.count,
            kept_count = kept_count - sums.count, kept_bytes = kept_bytes - sums.bytes
          from (select digest_id, count(*)::int as count, sum(bytes) as bytes from removed group by digest_id) sums
          where digest.tenant_id = ${tenantId} and digest.id = sums.digest_id
        )
        select digest_id, run_id from removed`;
      if (removed.length > 0)
        await handOver(tenantId, [...new Set(removed.map(({ digestId }) => digestId))], runIds, now);
      return removed.map(({ runId }) => runId);
    },
  };

  /** Gives digests without a leader to their oldest run, and deletes empty ones. Runs that others lock are passed over. */
  async function handOver(tenantId: TenantId, digestIds: readonly string[], leavers: readonly string[], now: Date) {
    const ids = sql`${digestIds as string[]}::text[]`;
    await sql`
      with orphan as (
        select id, closes_at, step_key from notification_digests digest
        where tenant_id = ${tenantId} and id = any(${ids}) and not exists (
          select from notification_runs run
          where run.tenant_id = ${tenantId} and run.id = digest.run_id and run.status in ('waiting', 'running')
            and run.id <> all(${leavers as string[]}::text[]))
      ), heir as (
        select orphan.*, chosen.run_id from orphan cross join lateral (
          select event.run_id from notification_digest_events event
          join notification_runs run on run.tenant_id = event.tenant_id and run.id = event.run_id
          where event.tenant_id = ${tenantId} and event.digest_id = orphan.id and run.status = 'collected'
          order by event.at, event.run_id limit 1 for update of run skip locked) chosen
      ), led as (
        update notification_digests digest set run_id = heir.run_id from heir
        where digest.tenant_id = ${tenantId} and digest.id = heir.id
      )
      update notification_runs run set status = 'waiting', wake_at = heir.closes_at, leader_run_id = '',
        step_key = heir.step_key, updated_at = ${now}
      from heir where run.tenant_id = ${tenantId} and run.id = heir.run_id`;
    await sql`delete from notification_digests where tenant_id = ${tenantId} and id = any(${ids}) and kept_count = 0`;
  }
}

/** The digests of runs whose messages are about to be sent. */
export async function findDigests(
  sql: Sql,
  deliveries: readonly { readonly tenantId: TenantId; readonly runId: string }[],
): Promise<{ readonly tenantId: TenantId; readonly id: string; readonly digest: DigestValues }[]> {
  return sql<{ tenantId: TenantId; id: string; digest: DigestValues }[]>`
    select tenant_id, id, digest from notification_runs
    where digest is not null and (tenant_id, id) in (
      select * from unnest(${deliveries.map(({ tenantId }) => tenantId)}::text[],
        ${deliveries.map(({ runId }) => runId)}::text[]))`;
}
