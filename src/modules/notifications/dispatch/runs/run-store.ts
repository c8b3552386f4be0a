import type { TenantId } from "../../../../platform/access/index.ts";
import type { Fragment, Sql } from "../../../../platform/db/index.ts";
import { type Leased, type LeaseRequest, leaseInTurns } from "../../../../platform/jobs/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../../platform/paging/index.ts";
import type { InboxState } from "../../preferences/index.ts";
import { type Lane, leaseS } from "../domain/delivery.ts";
import {
  type DigestValues,
  type NotificationRun,
  type RunReason,
  type RunStatus,
  runFailuresMax,
} from "../domain/run.ts";

/** A new run; the other fields come from the batch of its trigger. */
export interface RunRow {
  readonly id: string;
  readonly subscriber_id: string;
  readonly context_keys: readonly string[];
  readonly channels: readonly string[] | null;
}

/** A run that this node may advance until its lease expires. */
export interface LeasedRun extends NotificationRun {
  readonly leaseToken: string;
}

/** A run without the events of its digest, which can be large. */
export type ListedRun = Omit<NotificationRun, "digest"> & { readonly digest: Pick<DigestValues, "count"> | null };

/** The state in which an advance leaves a run. */
export interface RunState extends Pick<NotificationRun, "outcomes" | "leaderRunId" | "digest"> {
  readonly status: Exclude<RunStatus, "running">;
  readonly reason: RunReason | "";
  readonly stepKey: string;
  readonly wakeAtMs: number | undefined;
  /** The inbox message that it waits for, "" for none, and the state that it waits for. */
  readonly awaitedId: string;
  readonly awaitedState?: InboxState;
}

/** A run that was ended by the service, not by its steps. */
export type EndedRun = Pick<
  NotificationRun,
  "tenantId" | "id" | "transactionId" | "workflowKey" | "subscriberId" | "status" | "reason"
>;

/** The common table expression that inserts runs with the fields of their batch, as part of the insert of a trigger. */
export function startedRuns(sql: Sql, runs: readonly (RunRow & { readonly batch_index: number })[]) {
  return sql`started_runs as (
    insert into notification_runs (tenant_id, id, transaction_id, workflow_key, subscriber_id, topic_key, context_keys,
      user_id, channels, lane, status, wake_at, created_at, updated_at)
    select head.tenant_id, run.id, head.transaction_id, head.workflow_key, run.subscriber_id, head.topic_key,
      run.context_keys, head.user_id, run.channels, head.lane, 'waiting', now(), head.at, head.at
    from json_to_recordset(${JSON.stringify(runs)}::text::json) as run(
      batch_index int, id text, subscriber_id text, context_keys text[], channels text[])
    join head using (batch_index)
  )`;
}

function runColumns(sql: Sql, digest: Fragment = sql`digest`) {
  return sql`
    tenant_id, id, transaction_id, workflow_key, subscriber_id, topic_key, context_keys, user_id, channels, lane, status,
    reason, step_key, wake_at, failures, leader_run_id, outcomes, ${digest}, created_at, updated_at`;
}

/** The current time while runs of a lane wait. */
export function nextWaiting(sql: Sql, lane: Lane): Fragment {
  return sql`select now() from notification_runs where lane = ${lane} and status = 'waiting' limit 1`;
}

/** When the next lease of a run expires. */
export function nextAbandoned(sql: Sql): Fragment {
  return sql`select lease_until from notification_runs where status = 'running' order by lease_until limit 1`;
}

/** SQL queries for runs. Nodes use the database's clock to lease and to advance. */
export function runStore(sql: Sql) {
  const columns = runColumns(sql);
  return {
    /** Leases due runs of a lane, in turn over the active tenants. */
    async lease(lane: Lane, request: LeaseRequest): Promise<Leased<LeasedRun>> {
      return leaseInTurns(sql, request, {
        table: sql`notification_runs`,
        waiting: sql`lane = ${lane} and status = 'waiting'`,
        due: sql`wake_at <= now()`,
        order: sql`wake_at, id`,
        leased: sql`leased as (
          update notification_runs set status = 'running', lease_token = ${request.token},
            lease_until = now() + make_interval(secs => ${leaseS})
          where ctid = any(array(select place from due))
          returning ${columns}, lease_token)`,
      });
    },

    /**
     * Locks a leased run until the transaction ends; returns the time by the database's clock, and undefined when the lease
     * is no longer valid.
     */
    async lock({ tenantId, id, leaseToken }: LeasedRun): Promise<Date | undefined> {
      const [held] = await sql<{ now: Date }[]>`
        select now() as now from notification_runs
        where tenant_id = ${tenantId} and id = ${id} and lease_token = ${leaseToken} and status = 'running' for update`;
      return held?.now;
    },

    /** Saves a leased run and ends its lease. */
    async save({ tenantId, id, leaseToken }: LeasedRun, state: RunState, now: Date): Promise<void> {
      const { status, reason, stepKey, wakeAtMs, awaitedId, outcomes, leaderRunId, digest } = state;
      await sql`
        update notification_runs set status = ${status}, reason = ${reason}, step_key = ${stepKey},
          wake_at = ${wakeAtMs === undefined ? null : new Date(wakeAtMs)}, awaited_id = ${awaitedId},
          outcomes = ${sql.json(outcomes as never)}, leader_run_id = ${leaderRunId},
          digest = ${digest === null ? null : sql.json(digest as never)}, failures = 0, lease_token = '',
          lease_until = null, updated_at = ${now}
        where tenant_id = ${tenantId} and id = ${id} and lease_token = ${leaseToken}`;
    },

    /** Queues a run again that could not be advanced; after too many failures it is stopped. */
    async postpone({ tenantId, id, leaseToken }: LeasedRun, waitMs: number): Promise<EndedRun[]> {
      const own = sql`tenant_id = ${tenantId} and id = ${id} and lease_token = ${leaseToken}`;
      return sql<EndedRun[]>`${releaseWhere(sql, own, waitMs)}`;
    },

    /** Recovers up to `limit` runs whose node died. */
    async recover(limit: number): Promise<EndedRun[]> {
      const abandoned = sql`(tenant_id, id) in (
        select tenant_id, id from notification_runs where status = 'running' and lease_until < now()
        order by lease_until limit ${limit} for update skip locked)`;
      return sql<EndedRun[]>`${releaseWhere(sql, abandoned, 0)}`;
    },

    find: (tenantId: TenantId, id: string) =>
      sql<NotificationRun[]>`
        select ${columns} from notification_runs where tenant_id = ${tenantId} and id = ${id}`.first(),

    /** Lists the runs of a trigger in creation order, or all runs newest first if it is "". Digests come without events. */
    async list(tenantId: TenantId, transactionId: string, page: Page): Promise<PageRows<ListedRun>> {
      const ofAll = transactionId === "";
      const where = sql`tenant_id = ${tenantId} ${ofAll ? sql`` : sql`and transaction_id = ${transactionId}`}`;
      const listed = runColumns(sql, sql`digest - 'events' as digest`);
      const selection = { columns: listed, table: "notification_runs", where, newestFirst: ofAll };
      return readKeyset<ListedRun>(sql, selection, page);
    },

    /** Wakes the runs that wait for inbox messages; returns their number. */
    async wakeAwaiting(tenantId: TenantId, messageIds: readonly string[]): Promise<number> {
      const woken = await sql`
        update notification_runs set wake_at = least(wake_at, now())
        where tenant_id = ${tenantId} and awaited_id = any(${messageIds as string[]}::text[]) and awaited_id <> ''
          and status = 'waiting'`;
      return woken.count;
    },

    /**
     * Wakes the runs that wait for an inbox message of a subscriber that already has the state. It waits for a transaction
     * that is changing the state, because that one may have looked for waiting runs too early.
     */
    async wakeIfReached(
      { tenantId, subscriberId }: Pick<NotificationRun, "tenantId" | "subscriberId">,
      messageId: string,
      state: InboxState,
    ): Promise<void> {
      const [message] = await sql<{ seen: boolean; read: boolean }[]>`
        select seen_at is not null as seen, read_at is not null as read from notification_inbox
        where tenant_id = ${tenantId} and subscriber_id = ${subscriberId} and id = ${messageId} for share`;
      if (message?.[state] === true) await this.wakeAwaiting(tenantId, [messageId]);
    },
  };
}

/** Ends leases: the runs wait again, or are stopped after too many failures. Returns the stopped ones. */
function releaseWhere(sql: Sql, where: ReturnType<Sql>, waitMs: number) {
  return sql`
    with released as (
      update notification_runs set failures = failures + 1, lease_token = '', lease_until = null, updated_at = now(),
        status = case when failures + 1 < ${runFailuresMax} then 'waiting' else 'stopped' end,
        reason = case when failures + 1 < ${runFailuresMax} then '' else 'failed' end,
        wake_at = case when failures + 1 < ${runFailuresMax} then now() + ${waitMs}::float8 * interval '1 millisecond' end
      where ${where} and status = 'running'
      returning tenant_id, id, transaction_id, workflow_key, subscriber_id, status, reason
    )
    select * from released where status = 'stopped'`;
}
