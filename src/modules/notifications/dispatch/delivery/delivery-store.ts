import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { claimBatch, type IdempotencyRecord } from "../../../../platform/idempotency/index.ts";
import { lowestUlid } from "../../../../platform/ids/ulid.ts";
import { type Page, type PageRows, readKeyset } from "../../../../platform/paging/index.ts";
import { type Delivery, type Lane, resolverVersion } from "../domain/delivery.ts";
import type { Carried } from "../domain/trigger.ts";

/** What the deliveries of one trigger have in common. */
export interface Parcel {
  readonly tenantId: TenantId;
  readonly transactionId: string;
  readonly broadcastId: string;
  readonly workflowKey: string;
  readonly topicKey: string;
  readonly userId: string;
  readonly lane: Lane;
  readonly at: Date;
  /** What they carry, which is there for as long as one of them may be tried again. */
  readonly payload: PayloadRow | undefined;
  readonly rows: readonly DeliveryRow[];
  readonly record: IdempotencyRecord | undefined;
}

/** What a trigger carries. */
export interface PayloadRow {
  /** Undefined when it is kept already. */
  readonly body: Carried["body"] | undefined;
  /** In hexadecimal. */
  readonly digest: string;
  readonly expiresAt: Date;
}

/** A delivery as it is written down at first, without what is empty. */
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
  /** What the inbox or the outbox gets. */
  readonly kept_in?: "inbox" | "outbox";
  readonly recipient?: string;
  readonly subject?: string;
  readonly title?: string;
  readonly body?: string;
  readonly html?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** How long a node has for an attempt before others take it that the node is gone. */
export const leaseS = 60;

/**
 * Keeps what many triggers bring, in one statement; answers with the indices of those whose key was used before.
 * Rows travel as one JSON text, and what the rows of a trigger have in common as another, so that neither repeats.
 */
export async function keepParcels(sql: Sql, parcels: readonly Parcel[]): Promise<ReadonlySet<number>> {
  const heads = parcels.map(({ rows: _, payload, record: __, ...head }, parcel) => ({
    parcel,
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
  const rows = parcels.flatMap((parcel, at) => parcel.rows.map((row) => ({ ...row, parcel: at })));
  const records = parcels.flatMap(({ record }, parcel) =>
    record === undefined ? [] : [{ batchIndex: parcel, record }],
  );
  const keyed = records.length > 0;
  const has = (test: (row: DeliveryRow) => boolean) => parcels.some((parcel) => parcel.rows.some(test));
  const result = await sql<{ parcel: number }[]>`
    with ${keyed ? sql`${claimBatch(sql, records)},` : sql``} head as (
      select * from json_to_recordset(${JSON.stringify(heads)}::text::json) as head(
        parcel int, tenant_id text, transaction_id text, broadcast_id text, workflow_key text, topic_key text,
        user_id text, lane text, at timestamptz, payload jsonb, digest text, expires_at timestamptz)
      ${keyed ? sql`where parcel not in (select batch_index from refused)` : sql``}
    ), input as (
      select head.tenant_id, head.transaction_id, head.broadcast_id, head.workflow_key, head.topic_key, head.user_id,
        head.lane, head.at, head.digest, head.expires_at, input.*
      from json_to_recordset(${JSON.stringify(rows)}::text::json) as input(
        parcel int, id text, subscriber_id text, context_keys text[], channel text, endpoint_id text,
        integration_id text, provider_key text, connection_id text, layout_id text, layout_version int, status text,
        failure_phase text, failure_code text, failure_detail text, reason text, layer int, dead_letter_id text,
        lease_token text, kept_in text, recipient text, subject text, title text, body text, html text, data jsonb)
      join head using (parcel)
    ), delivered as (
      insert into notification_deliveries (tenant_id, id, transaction_id, broadcast_id, workflow_key, subscriber_id,
        topic_key, context_keys, user_id, channel, endpoint_id, integration_id, provider_key, connection_id, layout_id,
        layout_version, status, lane, failure_phase, failure_code, failure_detail, preference_reason_code,
        preference_winning_layer, resolver_version, execution_attempt, provider_attempt, next_attempt_at, lease_token,
        lease_until, dead_letter_id, first_failed_at, queued_at, started_at, sent_at, completed_at)
      select tenant_id, id, transaction_id, broadcast_id, workflow_key, subscriber_id, topic_key,
        coalesce(context_keys, '{}'), user_id, channel, coalesce(endpoint_id, ''), coalesce(integration_id, ''),
        coalesce(provider_key, ''), coalesce(connection_id, ''), coalesce(layout_id, ''), coalesce(layout_version, 0),
        status, lane, coalesce(failure_phase, ''), coalesce(failure_code, ''), coalesce(failure_detail, ''), reason,
        layer, ${resolverVersion}, case when status in ('queued', 'skipped') then 0 else 1 end,
        case when status = 'sent' then 1 else 0 end, case when status = 'queued' then at end, coalesce(lease_token, ''),
        case when status = 'running' then now() + make_interval(secs => ${leaseS}) end, coalesce(dead_letter_id, ''),
        case when status in ('queued', 'failed') and failure_code is not null then at end, at,
        case when status in ('running', 'sent', 'failed') then at end, case when status = 'sent' then at end,
        case when status in ('sent', 'failed', 'skipped') then at end
      from input
    )
    ${
      has(({ kept_in }) => kept_in === "inbox")
        ? sql`, inboxed as (
      insert into notification_inbox (tenant_id, subscriber_id, id, workflow_key, title, body, data, created_at)
      select tenant_id, subscriber_id, id, workflow_key, coalesce(title, ''), body, coalesce(data, '{}'), at
      from input where kept_in = 'inbox'
    )`
        : sql``
    }
    ${
      has(({ kept_in }) => kept_in === "outbox")
        ? sql`, outboxed as (
      insert into notification_outbox (tenant_id, id, workflow_key, channel, recipient, subject, title, body, html, data,
        created_at)
      select tenant_id, id, workflow_key, channel, recipient, coalesce(subject, ''), coalesce(title, ''), body,
        coalesce(html, ''), coalesce(data, '{}'), at
      from input where kept_in = 'outbox'
    )`
        : sql``
    }
    ${
      heads.some(({ payload }) => payload !== undefined)
        ? sql`, carried as (
      insert into notification_payloads (tenant_id, transaction_id, body, digest, created_at, expires_at)
      select tenant_id, transaction_id, payload, decode(digest, 'hex'), at, expires_at from head where payload is not null
    )`
        : sql``
    }
    ${
      has(({ dead_letter_id }) => dead_letter_id !== undefined)
        ? sql`, buried as (
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
    select ${keyed ? sql`batch_index as parcel from refused` : sql`parcel from head where false`}`;
  return new Set(result.map(({ parcel }) => parcel));
}

/** The columns of a delivery, as callers see it. */
export function deliveryColumns(sql: Sql) {
  return sql`
    tenant_id, id, transaction_id, broadcast_id, workflow_key, subscriber_id, topic_key, context_keys, user_id, channel,
    endpoint_id, integration_id, provider_key, connection_id, layout_id, layout_version, status, lane,
    provider_message_id, failure_phase, failure_code, failure_detail, retryable, preference_reason_code,
    preference_winning_layer, resolver_version, execution_attempt, provider_attempt, max_attempts, next_attempt_at,
    observation_state, reconciliation_required, dead_letter_id, key_generation, queued_at, started_at, sent_at,
    completed_at`;
}

/** Which deliveries a list shows: those of one transaction, or of one subscriber. */
export type DeliveryFilter =
  | { readonly transactionId: string; readonly broadcast: boolean }
  | { readonly subscriberId: string };

/** The SQL of deliveries as they are looked at, and forgotten. */
export function deliveryStore(sql: Sql) {
  const columns = deliveryColumns(sql);
  return {
    async find(tenantId: TenantId, id: string): Promise<Delivery | undefined> {
      const [row] = await sql<Delivery[]>`
        select ${columns} from notification_deliveries where tenant_id = ${tenantId} and id = ${id}`;
      return row;
    },

    /** Deliveries by id; those that are not there are left out. */
    async findMany(tenantId: TenantId, ids: readonly string[]): Promise<Delivery[]> {
      return sql<Delivery[]>`
        select ${columns} from notification_deliveries
        where tenant_id = ${tenantId} and id = any(${ids as string[]}::text[])`;
    },

    /** Of a transaction in the order in which they were made, of a subscriber the newest first. */
    async list(tenantId: TenantId, filter: DeliveryFilter, page: Page): Promise<PageRows<Delivery>> {
      const ofSubscriber = "subscriberId" in filter;
      const where = ofSubscriber
        ? sql`tenant_id = ${tenantId} and subscriber_id = ${filter.subscriberId}`
        : filter.broadcast
          ? sql`tenant_id = ${tenantId} and broadcast_id = ${filter.transactionId} and broadcast_id <> ''`
          : sql`tenant_id = ${tenantId} and transaction_id = ${filter.transactionId}`;
      const table = "notification_deliveries";
      return readKeyset<Delivery>(sql, { columns, table, where, newestFirst: ofSubscriber }, page);
    },

    /** The tenants that have deliveries from before a moment. */
    async tenantsBefore(beforeMs: number): Promise<TenantId[]> {
      // Hops from tenant to tenant: there are far fewer of them than of deliveries.
      const rows = await sql<{ tenantId: TenantId }[]>`
        with recursive each as (
          (select tenant_id, id from notification_deliveries order by tenant_id, id limit 1)
          union all
          select next.tenant_id, next.id from each cross join lateral (
            select tenant_id, id from notification_deliveries where tenant_id > each.tenant_id
            order by tenant_id, id limit 1) next
        )
        select tenant_id from each where id < ${lowestUlid(beforeMs)}`;
      return rows.map(({ tenantId }) => tenantId);
    },

    /**
     * Forgets deliveries from before a moment, but none that is under way, with what was seen of them and what inbox and
     * outbox have of them; answers how many.
     */
    async forget(tenantId: TenantId, beforeMs: number, limit: number): Promise<number> {
      const gone = await sql`
        with gone as (
          delete from notification_deliveries where ctid = any(array(
            select ctid from notification_deliveries
            where tenant_id = ${tenantId} and id < ${lowestUlid(beforeMs)} and status in ('sent', 'failed', 'skipped')
            order by id limit ${limit}))
          returning id, subscriber_id
        ), unseen as (
          delete from notification_observations
          where tenant_id = ${tenantId} and delivery_id in (select id from gone)
        ), uninboxed as (
          delete from notification_inbox
          where tenant_id = ${tenantId} and (subscriber_id, id) in (select subscriber_id, id from gone)
        ), unoutboxed as (
          delete from notification_outbox where tenant_id = ${tenantId} and id in (select id from gone)
        )
        select id from gone`;
      return gone.count;
    },
  };
}

/** Forgets what triggers of all tenants carried whose time is over, a bite at a time; answers how many. */
export async function forgetPayloads(sql: Sql, now: Date, limit: number): Promise<number> {
  const gone = await sql`
    delete from notification_payloads where ctid = any(array(
      select ctid from notification_payloads where expires_at <= ${now} order by expires_at limit ${limit}))`;
  return gone.count;
}
