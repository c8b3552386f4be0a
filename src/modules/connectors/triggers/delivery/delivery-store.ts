import type { TenantId } from "../../../../platform/access/index.ts";
import { type Backlog, fromNow, type NextDue, type Sql } from "../../../../platform/db/index.ts";
import type { Json, JsonObject } from "../../../../platform/document/index.ts";
import { type Leased, type LeaseRequest, leaseInTurns } from "../../../../platform/jobs/index.ts";
import type { EventStatus } from "../domain/event.ts";
import type { SubscriptionId, Target } from "../domain/subscription.ts";

/** A claimed delivery with its event and subscription. */
export interface ClaimedDelivery {
  readonly tenantId: TenantId;
  readonly eventId: string;
  readonly subscriptionId: SubscriptionId;
  readonly receivedAt: Date;
  readonly replay: number;
  readonly claim: string;
  readonly attempts: number;
  readonly firstClaimedAt: Date;
  readonly type: string;
  readonly payload: Json;
  /** Undefined if the subscription was deleted. */
  readonly subscription:
    | {
        readonly environmentId: string;
        readonly condition: string;
        readonly target: Target;
        readonly deliveryError: string;
      }
    | undefined;
}

export interface DeliveryEnd {
  readonly delivery: ClaimedDelivery;
  readonly status: Exclude<EventStatus, "pending">;
  readonly error: string;
  readonly result: JsonObject | null;
  readonly endedAt: Date;
}

type Row = Omit<ClaimedDelivery, "subscription"> & {
  readonly environmentId: string | null;
  readonly condition: string | null;
  readonly target: Target | null;
  readonly deliveryError: string | null;
};

/** Now, while any delivery is pending. */
export const nextPending: NextDue = (sql) => sql`select now() from connector_trigger_deliveries limit 1`;

/** Deliveries that should have been tried. */
export const dueDeliveries: Backlog = {
  name: "connector_trigger_deliveries",
  rows: (sql) => sql`select due_at, event_id from connector_trigger_deliveries`,
};

/** The SQL queries of deliveries. Due times are the database's, so that the clocks of nodes do not matter. */
export function deliveryStore(sql: Sql) {
  return {
    /**
     * Claims due deliveries, a few of each tenant in turn and none of busy ones, so that a tenant with many events does not delay
     * the others. Every claim counts as an attempt, so that an event which ends its node does not do so forever.
     */
    async claimDue(request: LeaseRequest, claimMs: number): Promise<Leased<ClaimedDelivery>> {
      const { items, scannedTo } = await leaseInTurns<Row>(sql, request, {
        table: sql`connector_trigger_deliveries`,
        waiting: sql`due_at <= now()`,
        due: sql`true`,
        order: sql`due_at`,
        leased: sql`claimed as (
          update connector_trigger_deliveries set claim = ${request.token} || ':' || event_id, attempts = attempts + 1,
            first_claimed_at = coalesce(first_claimed_at, now()), due_at = ${fromNow(sql, claimMs)}
          where ctid = any(array(select place from due))
          returning *
        ),
        leased as (
          select claimed.tenant_id, claimed.event_id, claimed.subscription_id, claimed.received_at, claimed.replay, claimed.claim,
            claimed.attempts, claimed.first_claimed_at, event.type, event.payload, subscription.environment_id,
            subscription.condition, subscription.target, subscription.delivery_error
          from claimed
          join connector_trigger_events event on event.tenant_id = claimed.tenant_id and event.id = claimed.event_id
            and event.received_at = claimed.received_at
          left join connector_trigger_subscriptions subscription on subscription.tenant_id = claimed.tenant_id
            and subscription.id = claimed.subscription_id)`,
      });
      return { items: items.map(toClaimed), scannedTo };
    },

    /** Stores the ends of deliveries whose claims are still held, in one statement; returns the claims of these. */
    async end(ends: readonly DeliveryEnd[]): Promise<ReadonlySet<string>> {
      const of = <T>(read: (end: DeliveryEnd) => T) => ends.map(read);
      const ended = await sql<{ claim: string }[]>`
        with ended as (
          delete from connector_trigger_deliveries delivery
          using unnest(${of(({ delivery }) => delivery.tenantId)}::text[], ${of(({ delivery }) => delivery.eventId)}::text[],
              ${of(({ delivery }) => delivery.claim)}::text[], ${of(({ status }) => status)}::text[],
              ${of(({ error }) => error)}::text[],
              ${of(({ result }) => (result === null ? null : JSON.stringify(result)))}::text[],
              ${of(({ endedAt }) => endedAt)}::timestamptz[])
            as result(tenant_id, event_id, claim, status, error, result, ended_at)
          where delivery.tenant_id = result.tenant_id and delivery.event_id = result.event_id
            and delivery.claim = result.claim
          returning delivery.*, result.status, result.error, result.result, result.ended_at
        ),
        stored as (
          update connector_trigger_events event set status = ended.status, attempts = ended.attempts, last_error = ended.error,
            result = ended.result::json, ended_at = ended.ended_at
          from ended where event.tenant_id = ended.tenant_id and event.id = ended.event_id
            and event.received_at = ended.received_at
        ),
        newest as (
          select tenant_id, subscription_id, max(received_at) as at from ended group by tenant_id, subscription_id
        ),
        -- Lock rows in the global order to avoid deadlocks. A second is exact enough for a hot row.
        changed as (
          select subscription.tenant_id, subscription.id, newest.at from connector_trigger_subscriptions subscription
          join newest on newest.tenant_id = subscription.tenant_id and newest.subscription_id = subscription.id
          where last_event_at is null or last_event_at < newest.at - interval '1 second'
          order by subscription.tenant_id, subscription.id for update of subscription
        ),
        touched as (
          update connector_trigger_subscriptions subscription set last_event_at = changed.at
          from changed where subscription.tenant_id = changed.tenant_id and subscription.id = changed.id
        )
        select claim from ended`;
      return new Set(ended.map(({ claim }) => claim));
    },

    /** Has a delivery repeated after a time. */
    async retry(
      { tenantId, eventId, claim, receivedAt, attempts }: ClaimedDelivery,
      { waitMs, error }: { readonly waitMs: number; readonly error: string },
    ): Promise<void> {
      await sql`
        with retried as (
          update connector_trigger_deliveries set claim = '', due_at = ${fromNow(sql, waitMs)}
          where tenant_id = ${tenantId} and event_id = ${eventId} and claim = ${claim} returning 1
        )
        update connector_trigger_events set attempts = ${attempts}, last_error = ${error}
        where tenant_id = ${tenantId} and id = ${eventId} and received_at = ${receivedAt} and exists (select from retried)`;
    },
  };
}

function toClaimed({ environmentId, condition, target, deliveryError, ...row }: Row): ClaimedDelivery {
  const subscription =
    target === null
      ? undefined
      : { environmentId: environmentId!, condition: condition!, target, deliveryError: deliveryError! };
  return { ...row, subscription };
}
