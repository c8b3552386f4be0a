import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../../platform/paging/index.ts";
import { type Attempt, attemptsKept, type Delivery, type DeliveryStatus } from "../domain/delivery.ts";
import type { NewDelivery } from "../domain/fan-out.ts";
import type { ReplaySelection } from "../domain/replay.ts";
import type { EndpointRef } from "../endpoints/endpoint-store.ts";

/** A delivery that this node may send until its lease ends. */
export interface LeasedDelivery extends EndpointRef {
  readonly eventId: string;
  readonly runAttempts: number;
  /** Another one at every lease: whoever holds an older one changes nothing any more. */
  readonly leaseToken: string;
}

/** What a delivery that was leased came to. */
export interface Settlement {
  readonly delivery: LeasedDelivery;
  readonly status: DeliveryStatus;
  /** How long to wait for the next attempt, when there is one. */
  readonly waitMs: number;
  /** Undefined when nothing was tried. */
  readonly attempt: Attempt | undefined;
}

/** The SQL of deliveries. The database's clock counts for all nodes. */
export function deliveryStore(sql: Sql) {
  const columns = sql`
    tenant_id, endpoint_id, event_id, event_type, status, next_attempt_at, attempt_count, attempt_log, created_at,
    ended_at`;
  const again = sql`status = 'pending', next_attempt_at = now(), run_attempts = 0, lease_token = null, ended_at = null`;
  return {
    /** Adds deliveries that are due at once; those that exist stay as they are. Answers with how many were added. */
    async insert(tenantId: TenantId, deliveries: readonly NewDelivery[]): Promise<number> {
      const added = await sql`
        insert into webhook_deliveries (tenant_id, endpoint_id, event_id, event_type, next_attempt_at, created_at)
        select ${tenantId}, endpoint_id, event_id, event_type, now(), now()
        from unnest(${deliveries.map((each) => each.endpointId)}::text[], ${deliveries.map((each) => each.eventId)}::text[],
          ${deliveries.map((each) => each.eventType)}::text[]) as delivery(endpoint_id, event_id, event_type)
        on conflict do nothing`;
      return added.count;
    },

    async find({ tenantId, endpointId }: EndpointRef, eventId: string): Promise<Delivery | undefined> {
      const [row] = await sql<Delivery[]>`
        select ${columns} from webhook_deliveries
        where tenant_id = ${tenantId} and endpoint_id = ${endpointId} and event_id = ${eventId}`;
      return row;
    },

    async list(
      { tenantId, endpointId }: EndpointRef,
      status: DeliveryStatus | undefined,
      page: Page,
    ): Promise<PageRows<Delivery>> {
      const where = sql`tenant_id = ${tenantId} and endpoint_id = ${endpointId}`;
      const filter = status === undefined ? undefined : sql`status = ${status}`;
      const selection = { columns, table: "webhook_deliveries", where, filter, key: "event_id", newestFirst: true };
      return readKeyset<Delivery>(sql, selection, page);
    },

    /** Endpoints with deliveries that are due, so many after one; steps from endpoint to endpoint, not over their rows. */
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
        limit ${limit}`;
    },

    /** Leases up to so many due deliveries of each endpoint. One whose node died becomes due again by itself. */
    async lease(
      endpoints: readonly EndpointRef[],
      { each, token, leaseMs }: { each: number; token: string; leaseMs: number },
    ): Promise<LeasedDelivery[]> {
      return sql<LeasedDelivery[]>`
        with due as (
          select delivery.* from unnest(${endpoints.map(({ tenantId }) => tenantId)}::text[],
            ${endpoints.map(({ endpointId }) => endpointId)}::text[]) as endpoint(tenant_id, id)
          cross join lateral (
            select tenant_id, endpoint_id, event_id from webhook_deliveries
            where tenant_id = endpoint.tenant_id and endpoint_id = endpoint.id and status = 'pending'
              and next_attempt_at <= now()
            order by next_attempt_at limit ${each} for update skip locked) delivery)
        update webhook_deliveries leased set lease_token = ${token}, next_attempt_at = ${fromNow(sql, leaseMs)}
        from due where leased.tenant_id = due.tenant_id and leased.endpoint_id = due.endpoint_id
          and leased.event_id = due.event_id
        returning leased.tenant_id, leased.endpoint_id, leased.event_id, leased.run_attempts, leased.lease_token`;
    },

    /** Writes down what became of leased deliveries; does nothing for those whose lease went to another node meanwhile. */
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
            when jsonb_array_length(attempt_log) < ${attemptsKept} then attempt_log || settled.attempt::jsonb
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

    /** Keeps since when endpoints have only failed: from now for those that have begun to, not at all for the good ones. */
    async noteHealth(good: readonly EndpointRef[], bad: readonly EndpointRef[]): Promise<void> {
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

    /** Of these endpoints, those that have failed for so long. */
    async longFailing(endpoints: readonly EndpointRef[], failingMs: number): Promise<EndpointRef[]> {
      return sql<EndpointRef[]>`
        select tenant_id, endpoint_id from webhook_failures
        where failing_since <= now() - ${failingMs} * interval '1 millisecond' and (tenant_id, endpoint_id) in (
          select * from unnest(${endpoints.map((each) => each.tenantId)}::text[], ${endpoints.map((each) => each.endpointId)}::text[]))`;
    },

    /** Makes one delivery due now; undefined when it is not there or is being sent just now. */
    async replay({ tenantId, endpointId }: EndpointRef, eventId: string): Promise<Delivery | undefined> {
      const [row] = await sql<Delivery[]>`
        update webhook_deliveries set ${again}
        where tenant_id = ${tenantId} and endpoint_id = ${endpointId} and event_id = ${eventId}
          and (lease_token is null or next_attempt_at < now())
        returning ${columns}`;
      return row;
    },

    /** Makes deliveries of these events due now; answers with how many. What is pending anyway is left alone. */
    async replayMany(
      { tenantId, endpointId }: EndpointRef,
      events: readonly { id: string; type: string }[],
      selection: ReplaySelection,
    ): Promise<number> {
      const ids = events.map(({ id }) => id);
      const types = events.map(({ type }) => type);
      const insertion = sql`
        insert into webhook_deliveries (tenant_id, endpoint_id, event_id, event_type, next_attempt_at, created_at)
        select ${tenantId}, ${endpointId}, id, type, now(), now()
        from unnest(${ids}::text[], ${types}::text[]) as event(id, type)`;
      switch (selection) {
        case "missing":
          return (await sql`${insertion} on conflict do nothing`).count;
        case "all":
          return (
            await sql`
              ${insertion} on conflict (tenant_id, endpoint_id, event_id) do update set ${again}
              where webhook_deliveries.status <> 'pending'`
          ).count;
        case "failed":
          return (
            await sql`
              update webhook_deliveries set ${again}
              where tenant_id = ${tenantId} and endpoint_id = ${endpointId} and event_id = any(${ids}::text[])
                and status in ('failed', 'cancelled')`
          ).count;
      }
    },

    /** Removes deliveries of an endpoint, a bite at a time; answers how many. */
    async removeOf({ tenantId, endpointId }: EndpointRef, limit: number): Promise<number> {
      const gone = await sql`
        delete from webhook_deliveries where ctid = any(array(
          select ctid from webhook_deliveries
          where tenant_id = ${tenantId} and endpoint_id = ${endpointId} limit ${limit}))`;
      return gone.count;
    },

    /** Forgets all tenants' deliveries that ended before a moment, a bite at a time; answers how many. */
    async forget(before: Date, limit: number): Promise<number> {
      const gone = await sql`
        delete from webhook_deliveries where ctid = any(array(
          select ctid from webhook_deliveries where ended_at < ${before} limit ${limit}))`;
      return gone.count;
    },
  };
}

function fromNow(sql: Sql, ms: number) {
  return sql`now() + ${ms} * interval '1 millisecond'`;
}
