import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { Page } from "../../../platform/paging/index.ts";
import { recordTable } from "../../../platform/records/index.ts";
import { type Address, type Channel, type Endpoint, type EndpointChange, endpointsMax } from "./domain/endpoint.ts";
import { suppressedAt } from "./suppressions/suppression-store.ts";

/** The fields of a new endpoint. */
type NewEndpoint = Pick<Endpoint, "id" | "subscriberId" | keyof Address | "connectionId" | "verified" | "metadata">;

type StoredEndpoint = NewEndpoint & Pick<Endpoint, "tenantId" | "lastUsedAt" | "createdAt" | "updatedAt">;

const endpoints = recordTable<Endpoint, object, StoredEndpoint>("notification_endpoints", {
  fixed: "tenant_id id subscriber_id channel provider_key identity created_at",
  mutable: "connection_id verified metadata last_used_at updated_at record_version",
  computed: (sql) => {
    const [tenantId, channel, identity] = [
      sql`notification_endpoints.tenant_id`,
      sql`notification_endpoints.channel`,
      sql`notification_endpoints.identity`,
    ];
    return sql`${suppressedAt(sql, { tenantId, channel, identity })} as suppressed_at`;
  },
  exists: "removed_at is null",
});

/** SQL queries for endpoints. A deleted one keeps its row but is never found again, and its address becomes free. */
export function endpointStore(sql: Sql) {
  const { columns, insertUnlessTaken, update, set, listWhere } = endpoints(sql);
  return {
    /** Inserts an endpoint; undefined when its address is already used. */
    insert: (tenantId: TenantId, endpoint: NewEndpoint, now: Date) =>
      insertUnlessTaken({ ...endpoint, tenantId, lastUsedAt: now, createdAt: now, updatedAt: now }),

    findByAddress: (tenantId: TenantId, { channel, providerKey, identity }: Address) =>
      sql<Endpoint[]>`
        select ${columns} from notification_endpoints
        where tenant_id = ${tenantId} and channel = ${channel} and provider_key = ${providerKey}
          and identity = ${identity} and removed_at is null`.first(),

    async count(tenantId: TenantId, subscriberId: string): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from notification_endpoints
        where tenant_id = ${tenantId} and subscriber_id = ${subscriberId} and removed_at is null`;
      return row!.count;
    },

    /** Updates the time of last use; undefined when the endpoint was removed. */
    touch: (tenantId: TenantId, id: string, now: Date) =>
      sql<Endpoint[]>`
        update notification_endpoints set last_used_at = ${now}
        where tenant_id = ${tenantId} and id = ${id} and removed_at is null
        returning ${columns}`.first(),

    /** Sets the given fields and the time of last use; undefined when the endpoint was removed. */
    update: (tenantId: TenantId, id: string, change: EndpointChange, now: Date) =>
      update(tenantId, id, { ...change, lastUsedAt: now }, undefined, now),

    remove: (tenantId: TenantId, subscriberId: string, id: string, now: Date) =>
      set(tenantId, id, now, sql`removed_at = ${now}`, sql`subscriber_id = ${subscriberId}`),

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

    list: (tenantId: TenantId, subscriberId: string, channel: string | undefined, page: Page) =>
      listWhere(tenantId, { subscriberId, channel }, page),
  };
}
