import type { TenantId } from "../../../../platform/access/index.ts";
import { type Backlog, deleteBatch, fromNow, isServed, type NextDue, type Sql } from "../../../../platform/db/index.ts";
import { lowestUlid } from "../../../../platform/ids/ulid.ts";
import { type Page, type PageRows, readKeyset } from "../../../../platform/paging/index.ts";
import { type Attempt, attemptLogMax, type Delivery, type DeliveryStatus } from "../domain/delivery.ts";
import type { NewDelivery } from "../domain/fan-out.ts";
import type { ReplaySelection } from "../domain/replay.ts";
import type { EndpointRef } from "../endpoints/endpoint-store.ts";

/** A delivery that this node may send until its lease expires. */
export interface LeasedDelivery extends EndpointRef {
  readonly eventId: string;
  readonly runAttempts: number;
  /** Unique per lease: the holder of an expired lease can no longer change the delivery. */
  readonly leaseToken: string;
}

/** The result of a leased delivery. */
export interface Settlement {
  readonly delivery: LeasedDelivery;
  readonly status: DeliveryStatus;
  /** The delay before the next attempt, if there is one. */
  readonly waitMs: number;
  /** Undefined if nothing was sent. */
  readonly attempt: Attempt | undefined;
}

/** A filter of deliveries. Undefined fields and an empty list match everything. */
export interface DeliveryFilter {
  readonly status: DeliveryStatus | undefined;
  /** Exact types, and families such as `order.*`. */
  readonly eventTypes: readonly string[];
  /** The time of the event. */
  readonly since: Date | undefined;
  readonly until: Date | undefined;
}

/** Now, while any delivery is pending. */
export const nextPending: NextDue = (sql) => sql`select now() from webhook_deliveries where status = 'pending' limit 1`;

/** Deliveries that should have been tried. */
export const dueDeliveries: Backlog = {
  name: "webhook_deliveries",
  rows: (sql) => sql`select next_attempt_at, event_id from webhook_deliveries where status = 'pending'`,
};

/** The SQL queries of deliveries. All times are the database's, so that the clocks of nodes do not matter. */
export function deliveryStore(sql: Sql) {
  const columns = sql`
    tenant_id, endpoint_id, event_id, event_type, status, next_attempt_at, attempt_count, attempt_log, created_at,
    ended_at`;
  /** The place in the order of an ordered endpoint. */
  const sequence = sql`case when ordered then nextval('webhook_delivery_order') end`;
  const requeued = sql`status = 'pending', next_attempt_at = now(), run_attempts = 0, lease_token = null, ended_at = null`;
  return {
    /**
     * Adds deliveries that are due immediately; existing ones stay unchanged. Returns the number of added rows. Ordered endpoints get
     * them after those that wait, or before.
     */
    async insert(
      tenantId: TenantId,
      deliveries: readonly NewDelivery[],
      place: "last" | "first" = "last",
    ): Promise<number> {
      const added = await sql`
        insert into webhook_deliveries (tenant_id, endpoint_id, event_id, event_type, next_attempt_at, created_at, sequence)
        select ${tenantId}, endpoint_id, event_id, event_type, now(), now(), ${place === "last" ? 1 : -1} * ${sequence}
        from (
          select delivery.*, endpoint.ordered
          from unnest(${deliveries.map((each) => each.endpointId)}::text[], ${deliveries.map((each) => each.eventId)}::text[],
              ${deliveries.map((each) => each.eventType)}::text[])
            with ordinality as delivery(endpoint_id, event_id, event_type, nth)
          join webhook_endpoints endpoint on endpoint.tenant_id = ${tenantId} and endpoint.id = delivery.endpoint_id
          order by nth) delivery
        on conflict do nothing`;
      return added.count;
    },

    find: ({ tenantId, endpointId }: EndpointRef, eventId: string) =>
      sql<Delivery[]>`
        select ${columns} from webhook_deliveries
        where tenant_id = ${tenantId} and endpoint_id = ${endpointId} and event_id = ${eventId}`.first(),

    /** The deliveries of an event to all endpoints. */
    async findByEvent(tenantId: TenantId, eventId: string): Promise<Delivery[]> {
      return sql<Delivery[]>`
        select ${columns} from webhook_deliveries
        where tenant_id = ${tenantId} and event_id = ${eventId}
          and endpoint_id in (select id from webhook_endpoints where tenant_id = ${tenantId})`;
    },

    async list(
      { tenantId, endpointId }: EndpointRef,
      { status, eventTypes, since, until }: DeliveryFilter,
      page: Page,
    ): Promise<PageRows<Delivery>> {
      // Ids of events start with their time, so the index selects the range.
      const where = sql`
        tenant_id = ${tenantId} and endpoint_id = ${endpointId}
        ${since === undefined ? sql`` : sql`and event_id >= ${lowestUlid(since.getTime())}`}
        ${until === undefined ? sql`` : sql`and event_id < ${lowestUlid(until.getTime())}`}`;
      const patterns = eventTypes.includes("*") ? [] : eventTypes.map(likePattern);
      const filter =
        status === undefined && patterns.length === 0
          ? undefined
          : sql`status = coalesce(${status ?? null}, status)
              and (${patterns.length === 0} or event_type like any(${patterns}::text[]))`;
      const selection = { columns, table: "webhook_deliveries", where, filter, key: "event_id", newestFirst: true };
      return readKeyset<Delivery>(sql, selection, page);
    },

    /** The deliveries of one event to some endpoints. */
    async listForEvent(
      tenantId: TenantId,
      eventId: string,
      endpointIds: readonly string[],
      page: Page,
    ): Promise<PageRows<Delivery>> {
      const where = sql`
        tenant_id = ${tenantId} and endpoint_id = any(${endpointIds as string[]}::text[]) and event_id = ${eventId}`;
      return readKeyset<Delivery>(sql, { columns, table: "webhook_deliveries", where, key: "endpoint_id" }, page);
    },

    /** Orders the pending deliveries of an endpoint that becomes ordered. */
    async orderPending({ tenantId, endpointId }: EndpointRef): Promise<void> {
      await sql`
        update webhook_deliveries delivery set sequence = waiting.sequence
        from (
          select event_id, nextval('webhook_delivery_order') as sequence
          from (select event_id from webhook_deliveries
            where tenant_id = ${tenantId} and endpoint_id = ${endpointId} and status = 'pending' order by event_id) pending) waiting
        where delivery.tenant_id = ${tenantId} and delivery.endpoint_id = ${endpointId} and delivery.event_id = waiting.event_id`;
    },

    /** Up to `limit` endpoints with due deliveries, after an endpoint. A skip scan that does not read all rows. */
    async dueEndpoints(after: EndpointRef | undefined, limit: number): Promise<EndpointRef[]> {
      return sql<EndpointRef[]>`
        with recursive waiting as (
          (select tenant_id, endpoint_id from webhook_deliveries
            where status = 'pending' and (tenant_id, endpoint_id) > (${after?.tenantId ?? ""}, ${after?.endpointId ?? ""})
            order by tenant_id, endpoint_id limit 1)
          union all
          select next.* from waiting cross join lateral (
            select tenant_id, endpoint_id from webhook_deliveries
            where status = 'pending' and (tenant_id, endpoint_id) > (waiting.tenant_id, waiting.endpoint_id)
            order by tenant_id, endpoint_id limit 1) next)
        select tenant_id, endpoint_id from waiting
        where exists (
          select from webhook_deliveries
          where tenant_id = waiting.tenant_id and endpoint_id = waiting.endpoint_id and status = 'pending'
            and next_attempt_at <= now())
          and ${isServed(sql, sql`waiting.tenant_id`)}
        limit ${limit}`;
    },

    /**
     * Leases up to `count` due deliveries per endpoint, and only the first pending one of an ordered endpoint. A delivery becomes due
     * again when its lease expires.
     */
    async lease(
      endpoints: readonly (EndpointRef & { readonly count: number })[],
      token: string,
      leaseMs: number,
    ): Promise<LeasedDelivery[]> {
      return sql<LeasedDelivery[]>`
        with endpoints as (
          select asked.tenant_id, asked.id, asked.count, coalesce(ordered, false) as ordered
          from unnest(${endpoints.map(({ tenantId }) => tenantId)}::text[],
            ${endpoints.map(({ endpointId }) => endpointId)}::text[],
            ${endpoints.map(({ count }) => count)}::int[]) as asked(tenant_id, id, count)
          left join webhook_endpoints endpoint on endpoint.tenant_id = asked.tenant_id and endpoint.id = asked.id),
        unordered as (
          select delivery.* from endpoints endpoint cross join lateral (
            select tenant_id, endpoint_id, event_id from webhook_deliveries
            where tenant_id = endpoint.tenant_id and endpoint_id = endpoint.id and status = 'pending'
              and next_attempt_at <= now()
            order by next_attempt_at limit endpoint.count for update skip locked) delivery
          where not endpoint.ordered),
        first as (
          select delivery.tenant_id, delivery.endpoint_id, delivery.event_id
          from endpoints endpoint
          cross join lateral (
            select event_id from webhook_deliveries
            where tenant_id = endpoint.tenant_id and endpoint_id = endpoint.id and status = 'pending' and sequence is not null
            order by sequence limit 1) head
          join webhook_deliveries delivery on delivery.tenant_id = endpoint.tenant_id and delivery.endpoint_id = endpoint.id
            and delivery.event_id = head.event_id
          where endpoint.ordered and delivery.status = 'pending' and delivery.next_attempt_at <= now()
          for update of delivery skip locked),
        due as (select * from unordered union all select * from first)
        update webhook_deliveries leased set lease_token = ${token}, next_attempt_at = ${fromNow(sql, leaseMs)}
        from due where leased.tenant_id = due.tenant_id and leased.endpoint_id = due.endpoint_id
          and leased.event_id = due.event_id
        returning leased.tenant_id, leased.endpoint_id, leased.event_id, leased.run_attempts, leased.lease_token`;
    },

    /** Stores the results of leased deliveries. Ignores deliveries whose lease another node has taken over. */
    async settle(settlements: readonly Settlement[]): Promise<void> {
      const leased = settlements.map(({ delivery }) => delivery);
      await sql`
        update webhook_deliveries delivery set
          status = settled.status,
          next_attempt_at = case when settled.status = 'pending' then now() + settled.wait_ms * interval '1 millisecond' end,
          ended_at = case when settled.status <> 'pending' then now() end,
          lease_token = null,
          run_attempts = run_attempts + tried,
          attempt_count = attempt_count + tried,
          attempt_log = case when tried = 0 then attempt_log
            when jsonb_array_length(attempt_log) < ${attemptLogMax} then attempt_log || settled.attempt::jsonb
            else (attempt_log - 0) || settled.attempt::jsonb end
        from unnest(
            ${leased.map((each) => each.tenantId)}::text[], ${leased.map((each) => each.endpointId)}::text[],
            ${leased.map((each) => each.eventId)}::text[], ${leased.map((each) => each.leaseToken)}::text[],
            ${settlements.map((each) => each.status)}::text[], ${settlements.map((each) => each.waitMs)}::float8[],
            ${settlements.map(({ attempt }) => (attempt === undefined ? null : JSON.stringify(attempt)))}::text[]
          ) as settled(tenant_id, endpoint_id, event_id, lease_token, status, wait_ms, attempt)
          cross join lateral (select (settled.attempt is not null)::int as tried) count
        where delivery.tenant_id = settled.tenant_id and delivery.endpoint_id = settled.endpoint_id
          and delivery.event_id = settled.event_id and delivery.lease_token = settled.lease_token`;
    },

    /** Stores since when endpoints fail without success: now for endpoints that start to fail, none for healthy ones. */
    async recordHealth(good: readonly EndpointRef[], bad: readonly EndpointRef[]): Promise<void> {
      await sql`
        with healed as (
          delete from webhook_failures where (tenant_id, endpoint_id) in (
            select * from unnest(${good.map((each) => each.tenantId)}::text[], ${good.map((each) => each.endpointId)}::text[])))
        insert into webhook_failures (tenant_id, endpoint_id, failing_since)
        select tenant_id, endpoint_id, now() from unnest(
          ${bad.map((each) => each.tenantId)}::text[], ${bad.map((each) => each.endpointId)}::text[]) as bad(tenant_id, endpoint_id)
        order by tenant_id, endpoint_id
        on conflict do nothing`;
    },

    /** The endpoints, of the given ones, that have failed for at least `failingMs`. */
    async findLongFailing(endpoints: readonly EndpointRef[], failingMs: number): Promise<EndpointRef[]> {
      return sql<EndpointRef[]>`
        select tenant_id, endpoint_id from webhook_failures
        where failing_since <= now() - ${failingMs} * interval '1 millisecond' and (tenant_id, endpoint_id) in (
          select * from unnest(${endpoints.map((each) => each.tenantId)}::text[], ${endpoints.map((each) => each.endpointId)}::text[]))`;
    },

    /** Makes one delivery due now; undefined if it does not exist or is being sent. */
    replay: ({ tenantId, endpointId }: EndpointRef, eventId: string) =>
      sql<Delivery[]>`
        update webhook_deliveries set ${requeued}, sequence = (
          select ${sequence} from webhook_endpoints where tenant_id = ${tenantId} and id = ${endpointId})
        where tenant_id = ${tenantId} and endpoint_id = ${endpointId} and event_id = ${eventId}
          and (lease_token is null or next_attempt_at < now())
        returning ${columns}`.first(),

    /** Makes the deliveries of these events due now; returns their number. Pending deliveries stay unchanged. */
    async replayMany(
      { tenantId, endpointId }: EndpointRef,
      events: readonly { id: string; type: string }[],
      selection: ReplaySelection,
    ): Promise<number> {
      const ids = events.map(({ id }) => id);
      const types = events.map(({ type }) => type);
      const insertion = sql`
        insert into webhook_deliveries (tenant_id, endpoint_id, event_id, event_type, next_attempt_at, created_at, sequence)
        select ${tenantId}, ${endpointId}, event.id, type, now(), now(), ${sequence}
        from (select * from unnest(${ids}::text[], ${types}::text[]) with ordinality as event(id, type, nth) order by nth) event
        join webhook_endpoints endpoint on endpoint.tenant_id = ${tenantId} and endpoint.id = ${endpointId}`;
      const statements = {
        missing: sql`${insertion} on conflict do nothing`,
        all: sql`
          ${insertion} on conflict (tenant_id, endpoint_id, event_id) do update set
            ${requeued}, sequence = excluded.sequence
          where webhook_deliveries.status <> 'pending'`,
        failed: sql`
          update webhook_deliveries delivery set ${requeued}, sequence = chosen.sequence
          from (
            select event_id, ${sequence} as sequence from (
              select event_id, ordered
              from webhook_deliveries failed
              join webhook_endpoints endpoint on endpoint.tenant_id = failed.tenant_id and endpoint.id = failed.endpoint_id
              where failed.tenant_id = ${tenantId} and endpoint_id = ${endpointId} and event_id = any(${ids}::text[])
                and failed.status in ('failed', 'cancelled')
              order by event_id) failed) chosen
          where delivery.tenant_id = ${tenantId} and delivery.endpoint_id = ${endpointId}
            and delivery.event_id = chosen.event_id and delivery.status in ('failed', 'cancelled')`,
      };
      return (await statements[selection]).count;
    },

    /** Deletes up to `limit` deliveries of an endpoint; returns their number. */
    deleteForEndpoint({ tenantId, endpointId }: EndpointRef, limit: number): Promise<number> {
      const where = sql`tenant_id = ${tenantId} and endpoint_id = ${endpointId}`;
      return deleteBatch(sql, { table: "webhook_deliveries", where }, limit);
    },
  };
}

/** The pattern of `like` that matches what a filter matches. */
function likePattern(type: string): string {
  const escaped = type.replace(/[\\%_]/g, "\\$&");
  return escaped.endsWith(".*") ? `${escaped.slice(0, -1)}%` : escaped;
}
