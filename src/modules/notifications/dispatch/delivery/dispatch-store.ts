import type { TenantId } from "../../../../platform/access/index.ts";
import { type Backlog, distinctRecords, type Fragment, type Sql } from "../../../../platform/db/index.ts";
import { type Leased, type LeaseRequest, leaseInTurns } from "../../../../platform/jobs/index.ts";
import { type Delivery, type DeliveryStatus, type Lane, leaseS } from "../domain/delivery.ts";
import type { SerializedPayload } from "../domain/trigger.ts";
import { deliveryColumns } from "./delivery-store.ts";

/** A delivery that this node may send until its lease expires. */
export interface LeasedDelivery extends Delivery {
  /** New for every lease. Writes with an older token have no effect. */
  readonly leaseToken: string;
}

/** The stored payload of a trigger. */
export interface StoredPayload {
  readonly tenantId: TenantId;
  readonly transactionId: string;
  readonly body: SerializedPayload["body"];
  /** In hexadecimal. */
  readonly digest: string;
  readonly expiresAt: Date;
  /** When the trigger was cancelled; null when it was not. */
  readonly cancelledAt: Date | null;
}

/** The outcome of a leased delivery. */
export interface Settlement {
  readonly delivery: Pick<LeasedDelivery, "tenantId" | "id" | "leaseToken" | "deadLetterId">;
  readonly status: Exclude<DeliveryStatus, "running">;
  /** Delay before the next attempt, when there is one. */
  readonly waitMs: number;
  readonly row: SettlementRow;
  /** The id of its new dead letter; undefined when there is none or it already has one. */
  readonly newDeadLetterId: string | undefined;
}

/** The fields that an attempt sets on its delivery; absent fields are stored as empty. */
export interface SettlementRow {
  readonly integration_id?: string;
  readonly provider_key?: string;
  readonly connection_id?: string;
  readonly layout_id?: string;
  readonly layout_version?: number;
  readonly provider_message_id?: string;
  readonly provider_attempts?: number;
  readonly failure_phase?: string;
  readonly failure_code?: string;
  readonly failure_detail?: string;
  readonly retryable?: boolean;
  /** Whether it waits for the end of quiet hours: the attempt does not count. */
  readonly held?: boolean;
  readonly observation_state?: string;
  readonly reconciliation_required?: boolean;
  readonly reason?: string;
  readonly layer?: number;
  readonly stored_in?: "inbox" | "outbox";
  readonly recipient?: string;
  readonly subject?: string;
  readonly title?: string;
  readonly body?: string;
  readonly html?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** A leased delivery that is about to be handed over to a provider. */
export interface HandOver {
  readonly delivery: Pick<LeasedDelivery, "tenantId" | "id" | "leaseToken">;
  readonly integrationId: string;
  readonly providerKey: string;
  readonly connectionId: string;
}

/** The current time while deliveries of a lane wait. */
export function nextQueued(sql: Sql, lane: Lane): Fragment {
  return sql`select now() from notification_deliveries where lane = ${lane} and status = 'queued' limit 1`;
}

/** Deliveries that should have been sent. */
export const dueDeliveries: Backlog = {
  name: "notification_deliveries",
  rows: (sql) => sql`select next_attempt_at, id from notification_deliveries where status = 'queued'`,
};

/** SQL queries for sending. All nodes use the database's clock. */
export function dispatchStore(sql: Sql) {
  const columns = deliveryColumns(sql);
  return {
    /** Leases the longest-waiting due deliveries of a lane, in turn over the active tenants. */
    async lease(lane: Lane, request: LeaseRequest): Promise<Leased<LeasedDelivery>> {
      return leaseInTurns(sql, request, {
        table: sql`notification_deliveries`,
        waiting: sql`lane = ${lane} and status = 'queued'`,
        due: sql`next_attempt_at <= now()`,
        order: sql`next_attempt_at, id`,
        leased: sql`leased as (
          update notification_deliveries set status = 'running', lease_token = ${request.token},
            lease_until = now() + make_interval(secs => ${leaseS}), execution_attempt = execution_attempt + 1,
            handed_over = false, next_attempt_at = null, retryable = false, started_at = coalesce(started_at, now())
          where ctid = any(array(select place from due))
          returning ${columns}, lease_token)`,
      });
    },

    /**
     * Records the integrations to which leased deliveries are about to be handed over; returns the ids of deliveries whose
     * lease is still valid. If the node dies afterwards, other nodes know which provider may have the message.
     */
    async handOver(handovers: readonly HandOver[]): Promise<ReadonlySet<string>> {
      const texts = (value: (each: HandOver) => string) => handovers.map(value);
      const owned = await sql<{ id: string }[]>`
        update notification_deliveries delivery set handed_over = true, integration_id = input.integration_id,
          provider_key = input.provider_key, connection_id = input.connection_id
        from unnest(${texts(({ delivery }) => delivery.tenantId)}::text[], ${texts(({ delivery }) => delivery.id)}::text[],
          ${texts(({ delivery }) => delivery.leaseToken)}::text[], ${texts(({ integrationId }) => integrationId)}::text[],
          ${texts(({ providerKey }) => providerKey)}::text[], ${texts(({ connectionId }) => connectionId)}::text[])
          as input(tenant_id, id, lease_token, integration_id, provider_key, connection_id)
        where delivery.tenant_id = input.tenant_id and delivery.id = input.id
          and delivery.lease_token = input.lease_token
        returning delivery.id`;
      return new Set(owned.map(({ id }) => id));
    },

    /** The payloads of deliveries' triggers; expired payloads are omitted. */
    async findPayloads(deliveries: readonly Pick<Delivery, "tenantId" | "transactionId">[]): Promise<StoredPayload[]> {
      return sql<StoredPayload[]>`
        select tenant_id, transaction_id, body, encode(digest, 'hex') as digest, expires_at, cancelled_at
        from notification_payloads
        where expires_at > now() and (tenant_id, transaction_id) in (
          select * from unnest(${deliveries.map(({ tenantId }) => tenantId)}::text[],
            ${deliveries.map(({ transactionId }) => transactionId)}::text[]))`;
    },

    /**
     * Makes the database plan each statement of the transaction for its actual parameters. A generic plan cached while the
     * table was small would scan a whole broadcast to settle a few of its deliveries.
     */
    async forceCustomPlans(): Promise<void> {
      await sql`set local plan_cache_mode = force_custom_plan`;
    },

    /**
     * Saves the outcomes of leased deliveries with their inbox messages, outbox messages and dead letters; returns the ids
     * of deliveries whose lease was still valid.
     */
    async settle(settlements: readonly Settlement[]): Promise<ReadonlySet<string>> {
      const rows = settlements.map(({ delivery, status, waitMs, row, newDeadLetterId }) => ({
        ...row,
        provider_message_id: undefined,
        tenant_id: delivery.tenantId,
        status,
        wait_ms: waitMs,
        letter_id: newDeadLetterId ?? delivery.deadLetterId,
        new_letter: newDeadLetterId !== undefined,
      }));
      const has = (test: (row: (typeof rows)[number]) => boolean) => rows.some(test);
      // The deliveries of a broadcast usually have the same outcome.
      const outcomes = distinctRecords(rows);
      const settled = await sql<{ id: string }[]>`
        with input as materialized (
          select own.*, outcome.* from rows from (
            json_to_recordset(${outcomes.json}::text::json) as (
              tenant_id text, status text, wait_ms float8, letter_id text, new_letter boolean, integration_id text,
              provider_key text, connection_id text, layout_id text, layout_version int, provider_attempts int,
              failure_phase text, failure_code text, failure_detail text, retryable boolean, held boolean,
              observation_state text, reconciliation_required boolean, reason text, layer int, stored_in text,
              recipient text, subject text, title text, body text, html text, data jsonb)
          ) with ordinality as outcome
          join unnest(${settlements.map(({ delivery }) => delivery.id)}::text[],
            ${settlements.map(({ delivery }) => delivery.leaseToken)}::text[],
            ${settlements.map(({ row }) => row.provider_message_id ?? "")}::text[], ${outcomes.places}::int[])
            as own(id, lease_token, provider_message_id, place) on place = ordinality
        ), settled as (
          update notification_deliveries delivery set
            status = input.status,
            integration_id = coalesce(input.integration_id, ''),
            provider_key = coalesce(input.provider_key, ''),
            connection_id = coalesce(input.connection_id, ''),
            layout_id = coalesce(input.layout_id, ''),
            layout_version = coalesce(input.layout_version, 0),
            provider_message_id = input.provider_message_id,
            provider_attempt = provider_attempt + coalesce(input.provider_attempts, 0),
            failure_phase = coalesce(input.failure_phase, ''),
            failure_code = coalesce(input.failure_code, ''),
            failure_detail = coalesce(input.failure_detail, ''),
            retryable = coalesce(input.retryable, false),
            observation_state = coalesce(input.observation_state, delivery.observation_state),
            reconciliation_required = coalesce(input.reconciliation_required, false),
            preference_reason_code = coalesce(input.reason, delivery.preference_reason_code),
            preference_winning_layer = case when input.reason is null then delivery.preference_winning_layer
              else nullif(input.layer, 0) end,
            dead_letter_id = input.letter_id,
            execution_attempt = execution_attempt - case when input.held then 1 else 0 end,
            first_failed_at = case when input.status in ('queued', 'failed') and input.held is not true
              then coalesce(delivery.first_failed_at, now()) else delivery.first_failed_at end,
            next_attempt_at = case when input.status = 'queued' then now() + input.wait_ms * interval '1 millisecond' end,
            lease_token = '', lease_until = null,
            sent_at = case when input.status = 'sent' then now() end,
            completed_at = case when input.status <> 'queued' then now() end
          from input
          where delivery.tenant_id = input.tenant_id and delivery.id = input.id
            and delivery.lease_token = input.lease_token
          returning delivery.tenant_id, delivery.id, delivery.subscriber_id, delivery.channel, delivery.workflow_key,
            delivery.broadcast_id, delivery.transaction_id, delivery.execution_attempt, delivery.first_failed_at
        )
        ${
          has(({ stored_in }) => stored_in === "inbox")
            ? sql`, inboxed as (
          insert into notification_inbox (tenant_id, subscriber_id, id, workflow_key, title, body, data, created_at)
          select settled.tenant_id, subscriber_id, settled.id, workflow_key, coalesce(title, ''), body,
            coalesce(data, '{}'), now()
          from settled join input using (tenant_id, id) where stored_in = 'inbox'
          on conflict do nothing
        )`
            : sql``
        }
        ${
          has(({ stored_in }) => stored_in === "outbox")
            ? sql`, outboxed as (
          insert into notification_outbox (tenant_id, id, workflow_key, channel, recipient, subject, title, body, html,
            data, created_at)
          select settled.tenant_id, settled.id, workflow_key, channel, recipient, coalesce(subject, ''),
            coalesce(title, ''), body, coalesce(html, ''), coalesce(data, '{}'), now()
          from settled join input using (tenant_id, id) where stored_in = 'outbox'
          on conflict do nothing
        )`
            : sql``
        }
        ${
          has(({ new_letter }) => new_letter)
            ? sql`, dead_lettered as (
          insert into notification_dead_letters (tenant_id, id, kind, delivery_id, broadcast_id, transaction_id,
            subscriber_id, channel, failure_phase, failure_code, failure_detail, attempts, first_failed_at,
            last_failed_at, payload_digest, payload_expires_at, status)
          select settled.tenant_id, input.letter_id, 'delivery', settled.id, settled.broadcast_id,
            settled.transaction_id, settled.subscriber_id, settled.channel, input.failure_phase, input.failure_code,
            coalesce(input.failure_detail, ''), settled.execution_attempt, settled.first_failed_at, now(),
            coalesce(payload.digest, ''), coalesce(payload.expires_at, now()), 'open'
          from settled join input using (tenant_id, id)
          left join notification_payloads payload using (tenant_id, transaction_id)
          where input.new_letter
        )`
            : sql``
        }
        ${
          has(({ new_letter, letter_id }) => !new_letter && letter_id !== "")
            ? sql`, reopened as (
          update notification_dead_letters letter set
            status = case when input.status = 'failed' then 'open' else 'redriven' end,
            attempts = letter.attempts + settled.execution_attempt,
            failure_phase = coalesce(input.failure_phase, letter.failure_phase),
            failure_code = coalesce(input.failure_code, letter.failure_code),
            failure_detail = coalesce(input.failure_detail, letter.failure_detail),
            last_failed_at = case when input.status = 'failed' then now() else letter.last_failed_at end
          from settled join input using (tenant_id, id)
          where letter.tenant_id = settled.tenant_id and letter.id = input.letter_id and not input.new_letter
            and input.status <> 'queued'
        )`
            : sql``
        }
        select id from settled`;
      return new Set(settled.map(({ id }) => id));
    },
  };
}
