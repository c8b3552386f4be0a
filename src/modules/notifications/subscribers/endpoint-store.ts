import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../platform/paging/index.ts";
import { type Address, type Channel, type Endpoint, type EndpointChange, endpointsMax } from "./domain/endpoint.ts";
import { suppressedAt } from "./suppressions/suppression-store.ts";

/** The fields of a new endpoint. */
type NewEndpoint = Pick<Endpoint, "id" | "subscriberId" | keyof Address | "connectionId" | "verified" | "metadata">;

/** SQL queries for endpoints. A deleted one keeps its row but is never found again, and its address becomes free. */
export function endpointStore(sql: Sql) {
  const suppressed = suppressedAt(sql, {
    tenantId: sql`notification_endpoints.tenant_id`,
    channel: sql`notification_endpoints.channel`,
    identity: sql`notification_endpoints.identity`,
  });
  const columns = sql`
    tenant_id, id, subscriber_id, channel, provider_key, identity, connection_id, verified, metadata, last_used_at,
    ${suppressed} as suppressed_at, created_at, updated_at, record_version`;
  return {
    /** Inserts an endpoint; undefined when its address is already used. */
    async insert(tenantId: TenantId, endpoint: NewEndpoint, now: Date): Promise<Endpoint | undefined> {
      const [row] = await sql<Endpoint[]>`
        insert into notification_endpoints (tenant_id, id, subscriber_id, channel, provider_key, identity, connection_id,
          verified, metadata, last_used_at, created_at, updated_at)
        values (${tenantId}, ${endpoint.id}, ${endpoint.subscriberId}, ${endpoint.channel}, ${endpoint.providerKey},
          ${endpoint.identity}, ${endpoint.connectionId}, ${endpoint.verified}, ${sql.json(endpoint.metadata as never)},
          ${now}, ${now}, ${now})
        on conflict (tenant_id, channel, provider_key, identity) where removed_at is null do nothing
        returning ${columns}`;
      return row;
    },

    async findByAddress(
      tenantId: TenantId,
      { channel, providerKey, identity }: Address,
    ): Promise<Endpoint | undefined> {
      const [row] = await sql<Endpoint[]>`
        select ${columns} from notification_endpoints
        where tenant_id = ${tenantId} and channel = ${channel} and provider_key = ${providerKey}
          and identity = ${identity} and removed_at is null`;
      return row;
    },

    async count(tenantId: TenantId, subscriberId: string): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from notification_endpoints
        where tenant_id = ${tenantId} and subscriber_id = ${subscriberId} and removed_at is null`;
      return row!.count;
    },

    /** Updates the time of last use; undefined when the endpoint was removed. */
    async touch(tenantId: TenantId, id: string, now: Date): Promise<Endpoint | undefined> {
      const [row] = await sql<Endpoint[]>`
        update notification_endpoints set last_used_at = ${now}
        where tenant_id = ${tenantId} and id = ${id} and removed_at is null
        returning ${columns}`;
      return row;
    },

    /** Sets the given fields and the time of last use; undefined when the endpoint was removed. */
    async update(tenantId: TenantId, id: string, change: EndpointChange, now: Date): Promise<Endpoint | undefined> {
      const [row] = await sql<Endpoint[]>`
        update notification_endpoints set
          connection_id = coalesce(${change.connectionId ?? null}, connection_id),
          verified = coalesce(${change.verified ?? null}, verified),
          metadata = coalesce(${change.metadata === undefined ? null : sql.json(change.metadata as never)}, metadata),
          last_used_at = ${now}, updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${tenantId} and id = ${id} and removed_at is null
        returning ${columns}`;
      return row;
    },

    async remove(tenantId: TenantId, subscriberId: string, id: string, now: Date): Promise<Endpoint | undefined> {
      const [row] = await sql<Endpoint[]>`
        update notification_endpoints set removed_at = ${now}, updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${tenantId} and subscriber_id = ${subscriberId} and id = ${id} and removed_at is null
        returning ${columns}`;
      return row;
    },

    /** The endpoints of many subscribers, ordered by id; on all channels if none are given. */
    async ofSubscribers(
      tenantId: TenantId,
      subscriberIds: readonly string[],
      channels: readonly Channel[] | undefined,
    ): Promise<Endpoint[]> {
      return sql<Endpoint[]>`
        select ${columns} from notification_endpoints
        where tenant_id = ${tenantId} and subscriber_id = any(${subscriberIds as string[]}::text[]) and removed_at is null
          ${channels === undefined ? sql`` : sql`and channel = any(${channels as Channel[]}::text[])`}
        order by id limit ${subscriberIds.length * endpointsMax}`;
    },

    async list(
      tenantId: TenantId,
      subscriberId: string,
      channel: string | undefined,
      page: Page,
    ): Promise<PageRows<Endpoint>> {
      const where = sql`tenant_id = ${tenantId} and subscriber_id = ${subscriberId} and removed_at is null
        ${channel === undefined ? sql`` : sql`and channel = ${channel}`}`;
      return readKeyset<Endpoint>(sql, { columns, table: "notification_endpoints", where }, page);
    },
  };
}
