import type { TenantId } from "../../../../platform/access/index.ts";
import { distinctRecords, joinSelected, type Sql } from "../../../../platform/db/index.ts";
import { claimBatch, type IdempotencyRecord } from "../../../../platform/idempotency/index.ts";
import { lowestUlid } from "../../../../platform/ids/ulid.ts";
import type { TenantCutoff } from "../../../../platform/jobs/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../../platform/paging/index.ts";
import { type Delivery, type Lane, leaseS, resolverVersion } from "../domain/delivery.ts";
import type { SerializedPayload } from "../domain/trigger.ts";
import { type RunRow, startedRuns } from "../runs/run-store.ts";

/** The deliveries of one trigger or broadcast page, and the fields that they share. */
export interface DeliveryBatch {
  readonly tenantId: TenantId;
  readonly transactionId: string;
  readonly broadcastId: string;
  readonly workflowKey: string;
  readonly topicKey: string;
  readonly userId: string;
  readonly lane: Lane;
  readonly at: Date;
  /** The trigger's payload; stored only while a delivery may be retried. */
  readonly payload: PayloadRow | undefined;
  readonly rows: readonly DeliveryRow[];
  /** Runs to start, if the workflow has steps. */
  readonly runs?: readonly RunRow[];
  readonly record: IdempotencyRecord | undefined;
}

/** A trigger's payload as it is stored. */
export interface PayloadRow {
  /** Undefined when the payload is already stored. */
  readonly body: SerializedPayload["body"] | undefined;
  /** In hexadecimal. */
  readonly digest: string;
  readonly expiresAt: Date;
}

/** A new delivery row; empty fields are absent. */
export interface DeliveryRow {
  readonly id: string;
  readonly subscriber_id: string;
  readonly context_keys?: readonly string[];
  readonly channel: string;
  readonly endpoint_id?: string;
  readonly integration_id?: string;
  readonly provider_key?: string;
  readonly connection_id?: string;
  readonly layout_id?: string;
  readonly layout_version?: number;
  readonly status: Delivery["status"];
  readonly failure_phase?: string;
  readonly failure_code?: string;
  readonly failure_detail?: string;
  readonly reason: string;
  readonly layer?: number;
  readonly dead_letter_id?: string;
  readonly lease_token?: string;
  /** When it is sent; now, by the clock of the database, when absent. */
  readonly next_attempt_at?: Date;
  readonly run_id?: string;
  readonly step_key?: string;
  /** Where the rendered message is stored, if the service stores it itself. */
  readonly stored_in?: "inbox" | "outbox";
  readonly recipient?: string;
  readonly subject?: string;
  readonly title?: string;
  readonly body?: string;
  readonly html?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/**
 * Inserts many batches of deliveries in one statement; returns the indices of batches whose idempotency key was already
 * used. What rows share is sent once: the fields of a batch, and the equal fields of its rows.
 */
export async function insertDeliveries(sql: Sql, batches: readonly DeliveryBatch[]): Promise<ReadonlySet<number>> {
  const heads = batches.map(({ rows: _, payload, record: __, runs: ___, ...head }, batchIndex) => ({
    batch_index: batchIndex,
    tenant_id: head.tenantId,
    transaction_id: head.transactionId,
    broadcast_id: head.broadcastId,
    workflow_key: head.workflowKey,
    topic_key: head.topicKey,
    user_id: head.userId,
    lane: head.lane,
    at: head.at,
    payload: payload?.body,
    digest: payload?.digest,
    expires_at: payload?.expiresAt,
  }));
  const rows = batches.flatMap((batch) => batch.rows);
  // The deliveries of a broadcast usually differ in nothing else.
  const shared = distinctRecords(
    batches.flatMap(({ rows }, at) =>
      rows.map((row) => ({ ...row, id: undefined, subscriber_id: undefined, endpoint_id: undefined, batch_index: at })),
    ),
  );
  const records = batches.flatMap(({ record }, batchIndex) => (record === undefined ? [] : [{ batchIndex, record }]));
  const keyed = records.length > 0;
  const runs = batches.flatMap((batch, at) => (batch.runs ?? []).map((run) => ({ ...run, batch_index: at })));
  const has = (test: (row: DeliveryRow) => boolean) => rows.some(test);
  const result = await sql<{ batchIndex: number }[]>`
    with ${keyed ? sql`${claimBatch(sql, records)},` : sql``} head as (
      select * from json_to_recordset(${JSON.stringify(heads)}::text::json) as head(
        batch_index int, tenant_id text, transaction_id text, broadcast_id text, workflow_key text, topic_key text,
        user_id text, lane text, at timestamptz, payload jsonb, digest text, expires_at timestamptz)
      ${keyed ? sql`where batch_index not in (select batch_index from refused)` : sql``}
    ), input as (
      select head.tenant_id, head.transaction_id, head.broadcast_id, head.workflow_key, head.topic_key, head.user_id,
        head.lane, head.at, head.digest, head.expires_at, own.*, shared.*
      from rows from (
        json_to_recordset(${shared.json}::text::json) as (
          batch_index int, context_keys text[], channel text, integration_id text, provider_key text, connection_id text,
          layout_id text, layout_version int, status text, failure_phase text, failure_code text, failure_detail text,
          reason text, layer int, dead_letter_id text, lease_token text, next_attempt_at timestamptz, run_id text,
          step_key text, stored_in text, recipient text, subject text, title text, body text, html text, data jsonb)
      ) with ordinality as shared
      join head using (batch_index)
      join unnest(${rows.map(({ id }) => id)}::text[], ${rows.map(({ subscriber_id }) => subscriber_id)}::text[],
        ${rows.map(({ endpoint_id = "" }) => endpoint_id)}::text[], ${shared.places}::int[])
        as own(id, subscriber_id, endpoint_id, place) on place = ordinality
    ), delivered as (
      insert into notification_deliveries (tenant_id, id, transaction_id, broadcast_id, workflow_key, subscriber_id,
        topic_key, context_keys, user_id, channel, endpoint_id, integration_id, provider_key, connection_id, layout_id,
        layout_version, status, lane, failure_phase, failure_code, failure_detail, preference_reason_code,
        preference_winning_layer, resolver_version, execution_attempt, provider_attempt, next_attempt_at, lease_token,
        lease_until, dead_letter_id, first_failed_at, queued_at, started_at, sent_at, completed_at, run_id, step_key)
      select tenant_id, id, transaction_id, broadcast_id, workflow_key, subscriber_id, topic_key,
        coalesce(context_keys, '{}'), user_id, channel, endpoint_id, coalesce(integration_id, ''),
        coalesce(provider_key, ''), coalesce(connection_id, ''), coalesce(layout_id, ''), coalesce(layout_version, 0),
        status, lane, coalesce(failure_phase, ''), coalesce(failure_code, ''), coalesce(failure_detail, ''), reason,
        layer, ${resolverVersion}, case when status in ('queued', 'skipped') then 0 else 1 end,
        case when status = 'sent' then 1 else 0 end, case when status = 'queued' then coalesce(next_attempt_at, now()) end,
        coalesce(lease_token, ''),
        case when status = 'running' then now() + make_interval(secs => ${leaseS}) end, coalesce(dead_letter_id, ''),
        case when status in ('queued', 'failed') and failure_code is not null then at end, at,
        case when status in ('running', 'sent', 'failed') then at end, case when status = 'sent' then at end,
        case when status in ('sent', 'failed', 'skipped') then at end, coalesce(run_id, ''), coalesce(step_key, '')
      from input
    )
    ${
      has(({ stored_in }) => stored_in === "inbox")
        ? sql`, inboxed as (
      insert into notification_inbox (tenant_id, subscriber_id, id, workflow_key, title, body, data, created_at)
      select tenant_id, subscriber_id, id, workflow_key, coalesce(title, ''), body, coalesce(data, '{}'), at
      from input where stored_in = 'inbox'
    )`
        : sql``
    }
    ${
      has(({ stored_in }) => stored_in === "outbox")
        ? sql`, outboxed as (
      insert into notification_outbox (tenant_id, id, workflow_key, channel, recipient, subject, title, body, html, data,
        created_at)
      select tenant_id, id, workflow_key, channel, recipient, coalesce(subject, ''), coalesce(title, ''), body,
        coalesce(html, ''), coalesce(data, '{}'), at
      from input where stored_in = 'outbox'
    )`
        : sql``
    }
    ${
      heads.some(({ payload }) => payload !== undefined)
        ? sql`, stored_payload as (
      insert into notification_payloads (tenant_id, transaction_id, body, digest, created_at, expires_at)
      select tenant_id, transaction_id, payload, decode(digest, 'hex'), at, expires_at from head where payload is not null
    )`
        : sql``
    }
    ${runs.length > 0 ? sql`, ${startedRuns(sql, runs)}` : sql``}
    ${
      has(({ dead_letter_id }) => dead_letter_id !== undefined)
        ? sql`, dead_lettered as (
      insert into notification_dead_letters (tenant_id, id, kind, delivery_id, broadcast_id, transaction_id,
        subscriber_id, channel, failure_phase, failure_code, failure_detail, attempts, first_failed_at, last_failed_at,
        payload_digest, payload_expires_at, status)
      select tenant_id, dead_letter_id, 'delivery', id, broadcast_id, transaction_id, subscriber_id, channel,
        failure_phase, failure_code, coalesce(failure_detail, ''), 1, at, at, decode(coalesce(digest, ''), 'hex'),
        coalesce(expires_at, at), 'open'
      from input where dead_letter_id is not null
    )`
        : sql``
    }
    select ${keyed ? sql`batch_index from refused` : sql`batch_index from head where false`}`;
  return new Set(result.map(({ batchIndex }) => batchIndex));
}

/** The columns of a delivery that the API exposes. */
export function deliveryColumns(sql: Sql) {
  return sql`
    tenant_id, id, transaction_id, broadcast_id, workflow_key, subscriber_id, topic_key, context_keys, user_id, channel,
    endpoint_id, integration_id, provider_key, connection_id, layout_id, layout_version, status, lane,
    provider_message_id, failure_phase, failure_code, failure_detail, retryable, preference_reason_code,
    preference_winning_layer, resolver_version, execution_attempt, provider_attempt, max_attempts, next_attempt_at,
    observation_state, reconciliation_required, dead_letter_id, key_generation, queued_at, started_at, sent_at,
    completed_at, run_id, step_key`;
}

/** Filter of a delivery list: one transaction, or one subscriber; all subscribers when empty. */
export type DeliveryFilter =
  | { readonly transactionId: string; readonly broadcast: boolean }
  | { readonly subscriberId: string };

/** SQL queries that read and delete deliveries. */
export function deliveryStore(sql: Sql) {
  const columns = deliveryColumns(sql);
  return {
    async find(tenantId: TenantId, id: string): Promise<Delivery | undefined> {
      const [row] = await sql<Delivery[]>`
        select ${columns} from notification_deliveries where tenant_id = ${tenantId} and id = ${id}`;
      return row;
    },

    /** Deliveries by id; unknown ids are omitted. */
    async findMany(tenantId: TenantId, ids: readonly string[]): Promise<Delivery[]> {
      return sql<Delivery[]>`
        select ${columns} from notification_deliveries
        where tenant_id = ${tenantId} and id = any(${ids as string[]}::text[])`;
    },

    /** Lists a transaction's deliveries in creation order, or those of one or all subscribers newest first. */
    async list(tenantId: TenantId, filter: DeliveryFilter, page: Page): Promise<PageRows<Delivery>> {
      const ofSubscriber = "subscriberId" in filter;
      const where = ofSubscriber
        ? sql`tenant_id = ${tenantId} ${filter.subscriberId === "" ? sql`` : sql`and subscriber_id = ${filter.subscriberId}`}`
        : filter.broadcast
          ? sql`tenant_id = ${tenantId} and broadcast_id = ${filter.transactionId} and broadcast_id <> ''`
          : sql`tenant_id = ${tenantId} and transaction_id = ${filter.transactionId}`;
      const table = "notification_deliveries";
      return readKeyset<Delivery>(sql, { columns, table, where, newestFirst: ofSubscriber }, page);
    },

    /**
     * The newest deliveries of a workflow to a subscriber, newest first: up to `limit` of them among the subscriber's newest
     * `searched` ones.
     */
    async recentOf(tenantId: TenantId, subscriberId: string, workflowKey: string, searched: number, limit: number) {
      return sql<Delivery[]>`
        select ${columns} from (
          select * from notification_deliveries where tenant_id = ${tenantId} and subscriber_id = ${subscriberId}
          order by id desc limit ${searched}) as newest
        where workflow_key = ${workflowKey} order by id desc limit ${limit}`;
    },

    /** The tenants that have deliveries from before a point in time. */
    async tenantsBefore(before: Date): Promise<TenantCutoff[]> {
      // A loose index scan reads one row per tenant; tenants are far fewer than deliveries.
      const rows = await sql<{ tenantId: TenantId }[]>`
        with recursive each as (
          (select tenant_id, id from notification_deliveries order by tenant_id, id limit 1)
          union all
          select next.tenant_id, next.id from each cross join lateral (
            select tenant_id, id from notification_deliveries where tenant_id > each.tenant_id
            order by tenant_id, id limit 1) next
        )
        select tenant_id from each where id < ${lowestUlid(before.getTime())}`;
      return rows.map(({ tenantId }) => ({ tenantId, before }));
    },

    /**
     * Deletes up to `limit` ended deliveries from before a point in time, with their observations and their inbox and
     * outbox messages; returns the number deleted.
     */
    async deleteEnded({ tenantId, before }: TenantCutoff, limit: number): Promise<number> {
      const isOld = sql`
        tenant_id = ${tenantId} and id < ${lowestUlid(before.getTime())} and status in ('sent', 'failed', 'skipped')`;
      const old = sql`from notification_deliveries where ${isOld} order by id limit ${limit}`;
      const deleted = await sql`
        with deleted as (
          delete from notification_deliveries using ${joinSelected(sql, "notification_deliveries", old)} and ${isOld}
          returning id, subscriber_id
        ), deleted_observations as (
          delete from notification_observations
          where tenant_id = ${tenantId} and delivery_id in (select id from deleted)
        ), deleted_inbox as (
          delete from notification_inbox
          where tenant_id = ${tenantId} and (subscriber_id, id) in (select subscriber_id, id from deleted)
        ), deleted_outbox as (
          delete from notification_outbox where tenant_id = ${tenantId} and id in (select id from deleted)
        )
        select id from deleted`;
      return deleted.count;
    },
  };
}

/**
 * Stores a trigger's payload no longer than until a point in time. A payload that is being cancelled stays as it is: its
 * cancellation waits for the run that the caller has locked.
 */
export async function limitPayload(
  sql: Sql,
  { tenantId, transactionId }: Pick<Delivery, "tenantId" | "transactionId">,
  until: Date,
): Promise<void> {
  await sql`
    update notification_payloads set expires_at = ${until}
    where tenant_id = ${tenantId} and transaction_id = (
      select transaction_id from notification_payloads
      where tenant_id = ${tenantId} and transaction_id = ${transactionId} and expires_at > ${until}
      for update skip locked)`;
}
