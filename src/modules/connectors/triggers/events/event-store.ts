import type { TenantId } from "../../../../platform/access/index.ts";
import type { Fragment, Sql } from "../../../../platform/db/index.ts";
import type { Json } from "../../../../platform/document/index.ts";
import { ulidMs } from "../../../../platform/ids/ulid.ts";
import { type Page, type PageRows, readKeyset } from "../../../../platform/paging/index.ts";
import type { EventStatus, TriggerEvent } from "../domain/event.ts";

/** The filter of a list of events. Empty fields match all. */
export interface EventFilter {
  readonly subscriptionId: string;
  readonly status: string;
  /** Only production, or only other environments; undefined for all. */
  readonly inProduction: boolean | undefined;
}

/** Ended events of a subscription to deliver again. */
export interface ReplaySelection {
  readonly subscriptionId: string;
  readonly from: Date;
  readonly to: Date;
  readonly status: Exclude<EventStatus, "pending">;
  readonly limit: number;
}

/** An event with its payload. */
export type FullEvent = TriggerEvent & { readonly payload: Json; readonly environmentKey: string };

/** The SQL queries of events for callers. */
export function eventStore(sql: Sql) {
  const table = "connector_trigger_events";
  const columns = sql`
    tenant_id, id, subscription_id, environment_key, type, dedup_key, status, attempts, last_error, result, replays, received_at,
    ended_at,
    (select due_at from connector_trigger_deliveries delivery
      where delivery.tenant_id = connector_trigger_events.tenant_id and delivery.event_id = connector_trigger_events.id
    ) as next_attempt_at`;
  return {
    find: (tenantId: TenantId, id: string) =>
      sql<FullEvent[]>`
        select ${columns}, payload from connector_trigger_events
        where tenant_id = ${tenantId} and id = ${id} and ${receivedAround(sql, id)}`.first(),

    async list(
      tenantId: TenantId,
      { subscriptionId, status, inProduction }: EventFilter,
      page: Page,
    ): Promise<PageRows<TriggerEvent>> {
      const where = sql`tenant_id = ${tenantId}
        ${subscriptionId === "" ? sql`` : sql`and subscription_id = ${subscriptionId}`}`;
      const isFiltered = status !== "" || inProduction !== undefined;
      const further = sql`true ${status === "" ? sql`` : sql`and status = ${status}`}
        ${inProduction === undefined ? sql`` : sql`and (environment_key = 'production') = ${inProduction}`}`;
      const filter = isFiltered ? further : undefined;
      return readKeyset<TriggerEvent>(sql, { columns, table, where, filter, newestFirst: true }, page);
    },

    /** Makes an ended event pending again; false if it is pending. */
    async replay(tenantId: TenantId, id: string): Promise<boolean> {
      const { count } = await sql`
        with replayed as (
          update connector_trigger_events set status = 'pending', attempts = 0, last_error = '', result = null, ended_at = null,
            replays = replays + 1
          where tenant_id = ${tenantId} and id = ${id} and ${receivedAround(sql, id)} and status <> 'pending'
          returning *
        )
        ${requeue(sql)}`;
      return count === 1;
    },

    /** Makes ended events of a time range pending again, oldest first; returns their number. Events without a payload stay. */
    async replayMany(
      tenantId: TenantId,
      { subscriptionId, from, to, status, limit }: ReplaySelection,
    ): Promise<number> {
      const { count } = await sql`
        with chosen as (
          select tenant_id, id, received_at from connector_trigger_events
          where tenant_id = ${tenantId} and subscription_id = ${subscriptionId} and received_at >= ${from}
            and received_at < ${to} and status = ${status} and payload::text <> 'null'
          order by received_at, id limit ${limit} for update
        ),
        replayed as (
          update connector_trigger_events event set status = 'pending', attempts = 0, last_error = '', result = null,
            ended_at = null, replays = replays + 1
          from chosen where event.tenant_id = chosen.tenant_id and event.id = chosen.id
            and event.received_at = chosen.received_at
          returning event.*
        )
        ${requeue(sql)}`;
      return count;
    },
  };
}

function requeue(sql: Sql): Fragment {
  return sql`
    insert into connector_trigger_deliveries (tenant_id, event_id, subscription_id, received_at, replay, due_at)
    select tenant_id, id, subscription_id, received_at, replays, now() from replayed order by tenant_id, id`;
}

/** Limits a query by id to the partitions that can hold the event. An id is created at the time of its event. */
function receivedAround(sql: Sql, id: string): Fragment {
  const atMs = ulidMs(id);
  const around = 60_000;
  if (!Number.isSafeInteger(atMs) || atMs < around || atMs > 4e12) return sql`false`;
  return sql`received_at between ${new Date(atMs - around)} and ${new Date(atMs + around)}`;
}
