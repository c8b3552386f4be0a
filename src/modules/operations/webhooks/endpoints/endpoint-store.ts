import type { EnvironmentMode, TenantId } from "../../../../platform/access/index.ts";
import { type Reencryptable, sealedTable } from "../../../../platform/crypto/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import type { Json } from "../../../../platform/document/index.ts";
import type { Page } from "../../../../platform/paging/index.ts";
import { recordTable } from "../../../../platform/records/index.ts";
import type { Position } from "../../events/index.ts";
import {
  bindingOf,
  type DisabledReason,
  type Endpoint,
  type EndpointChange,
  headersBindingOf,
  type SealedSecret,
} from "../domain/endpoint.ts";
import type { Subscriber } from "../domain/fan-out.ts";

/** Identifies an endpoint. */
export interface EndpointRef {
  readonly tenantId: TenantId;
  readonly endpointId: string;
}

/** Everything that is needed to send to an endpoint. */
export interface Destination extends EndpointRef {
  readonly url: string;
  /** Whether the endpoint and its tenant are active. */
  readonly open: boolean;
  readonly ordered: boolean;
  readonly retryDelaysS: readonly number[];
  /** The template of the body; null for the event itself. */
  readonly transform: Json;
  /** The ciphertext of the additional headers; null without any. */
  readonly headers: string | null;
  /** The valid secrets, newest first. */
  readonly secrets: readonly Pick<SealedSecret, "id" | "ciphertext">[];
}

const endpoints = recordTable<Endpoint>("webhook_endpoints", {
  fixed: "tenant_id id environment_mode created_at",
  mutable: `url description event_types status disabled_reason ordered retry_delays_s transform updated_at record_version`,
  computed: (sql) => sql`
    coalesce((select names from webhook_headers
      where tenant_id = webhook_endpoints.tenant_id and id = webhook_endpoints.id), '{}') as header_names,
    (select failing_since from webhook_failures
      where tenant_id = webhook_endpoints.tenant_id and endpoint_id = webhook_endpoints.id) as failing_since`,
});

/** The SQL queries of endpoints, their secrets, and the followers' cursors in the tenants' logs. */
export function endpointStore(sql: Sql) {
  const { columns, insert, count, find, set, listWhere } = endpoints(sql);
  return {
    count,
    find,
    insert: (endpoint: Endpoint) => insert({ ...endpoint, transform: jsonParameter(sql, endpoint.transform) as never }),

    /** All endpoints that a caller with this mode may read. A tenant has at most `endpointsMax`. */
    async findAll(tenantId: TenantId, mode: EnvironmentMode): Promise<Endpoint[]> {
      return sql<Endpoint[]>`
        select ${columns} from webhook_endpoints
        where tenant_id = ${tenantId} ${mode === "any" ? sql`` : sql`and environment_mode = ${mode}`} order by id`;
    },

    /** Finds an endpoint and locks it until the transaction ends. */
    lock: (tenantId: TenantId, id: string) =>
      sql<Endpoint[]>`
        select ${columns} from webhook_endpoints where tenant_id = ${tenantId} and id = ${id} for no key update`.first(),

    /** The endpoints whose events a caller with this mode may see. */
    list: (tenantId: TenantId, mode: EnvironmentMode, page: Page) =>
      listWhere(tenantId, { environmentMode: mode === "any" ? undefined : mode }, page),

    /** Undefined fields stay unchanged. An endpoint that is enabled again gets only events from now on. */
    update(
      tenantId: TenantId,
      id: string,
      { url, description, eventTypes, status, ordered, retryDelaysS, transform }: EndpointChange,
      expectedVersion: number | undefined,
      now: Date,
    ): Promise<Endpoint | undefined> {
      const enabled = sql`${status ?? null}::text = 'active' and status = 'disabled'`;
      const assignments = sql`
        url = coalesce(${url ?? null}, url),
        description = coalesce(${description ?? null}, description),
        event_types = coalesce(${(eventTypes as string[] | undefined) ?? null}::text[], event_types),
        status = coalesce(${status ?? null}, status),
        ordered = coalesce(${ordered ?? null}, ordered),
        retry_delays_s = coalesce(${(retryDelaysS as number[] | undefined) ?? null}::int[], retry_delays_s),
        transform = case when ${transform !== undefined} then ${jsonParameter(sql, transform ?? null)}::jsonb else transform end,
        disabled_reason = case when coalesce(${status ?? null}, status) = 'active' then ''
          when status = 'active' then 'manual' else disabled_reason end,
        since_snapshot = case when ${enabled} then stamp_snapshot() else since_snapshot end,
        since_stamp = case when ${enabled} then current_stamp() else since_stamp end`;
      const isExpected = sql`record_version = coalesce(${expectedVersion ?? null}::int, record_version)`;
      return set(tenantId, id, now, assignments, isExpected);
    },

    /** Disables an active endpoint. With the reason `failing`, only if it has failed for `failingMs`. */
    disable(
      { tenantId, endpointId }: EndpointRef,
      reason: Exclude<DisabledReason, "" | "manual">,
      failingMs: number,
    ): Promise<Endpoint | undefined> {
      const isDue = sql`exists (
        select from webhook_failures where tenant_id = ${tenantId} and endpoint_id = ${endpointId}
          and failing_since <= now() - ${failingMs} * interval '1 millisecond')`;
      return sql<Endpoint[]>`
        update webhook_endpoints set status = 'disabled', disabled_reason = ${reason}, updated_at = now(),
          record_version = record_version + 1
        where tenant_id = ${tenantId} and id = ${endpointId} and status = 'active'
          ${reason === "failing" ? sql`and ${isDue}` : sql``}
        returning ${columns}`.first();
    },

    /** Resets the time since which an endpoint fails. */
    async resetFailures({ tenantId, endpointId }: EndpointRef): Promise<void> {
      await sql`delete from webhook_failures where tenant_id = ${tenantId} and endpoint_id = ${endpointId}`;
    },

    /** Deletes an endpoint and its records except deliveries, of which there can be many. */
    remove: (tenantId: TenantId, id: string) =>
      sql<Endpoint[]>`
        with secrets as (delete from webhook_secrets where tenant_id = ${tenantId} and endpoint_id = ${id}),
          replays as (delete from webhook_replays where tenant_id = ${tenantId} and endpoint_id = ${id}),
          failures as (delete from webhook_failures where tenant_id = ${tenantId} and endpoint_id = ${id}),
          headers as (delete from webhook_headers where tenant_id = ${tenantId} and id = ${id})
        delete from webhook_endpoints where tenant_id = ${tenantId} and id = ${id} returning ${columns}`.first(),

    /** Replaces the additional headers of an endpoint; removes them without sealed ones. */
    async setHeaders(
      { tenantId, endpointId }: EndpointRef,
      sealed: { readonly names: readonly string[]; readonly ciphertext: string; readonly keyId: string } | undefined,
    ): Promise<void> {
      if (sealed === undefined) {
        await sql`delete from webhook_headers where tenant_id = ${tenantId} and id = ${endpointId}`;
        return;
      }
      await sql`
        insert into webhook_headers (tenant_id, id, names, ciphertext, key_id)
        values (${tenantId}, ${endpointId}, ${sealed.names as string[]}, ${sealed.ciphertext}, ${sealed.keyId})
        on conflict (tenant_id, id) do update set
          names = excluded.names, ciphertext = excluded.ciphertext, key_id = excluded.key_id`;
    },

    async insertSecret(secret: SealedSecret, createdAt: Date): Promise<void> {
      await sql`
        insert into webhook_secrets (tenant_id, id, endpoint_id, ciphertext, key_id, created_at)
        values (${secret.tenantId}, ${secret.id}, ${secret.endpointId}, ${secret.ciphertext}, ${secret.keyId},
          ${createdAt})`;
    },

    /** Sets the expiry of the current secret and deletes expired ones; returns the number of remaining secrets. */
    async expireSecrets({ tenantId, endpointId }: EndpointRef, at: Date): Promise<number> {
      await sql`
        delete from webhook_secrets
        where tenant_id = ${tenantId} and endpoint_id = ${endpointId} and expires_at <= now()`;
      const updated = await sql`
        update webhook_secrets set expires_at = coalesce(expires_at, ${at})
        where tenant_id = ${tenantId} and endpoint_id = ${endpointId}`;
      return updated.count;
    },

    /** The destinations of these endpoints; omits deleted ones. */
    async destinations(endpoints: readonly EndpointRef[]): Promise<Destination[]> {
      return sql<Destination[]>`
        select endpoint.tenant_id, endpoint.id as endpoint_id, endpoint.url,
          endpoint.status = 'active' and tenant.status = 'active' as open,
          endpoint.ordered, endpoint.retry_delays_s, endpoint.transform,
          (select ciphertext from webhook_headers where tenant_id = endpoint.tenant_id and id = endpoint.id) as headers,
          coalesce((
            select jsonb_agg(jsonb_build_object('id', secret.id, 'ciphertext', secret.ciphertext) order by secret.id desc)
            from webhook_secrets secret
            where secret.tenant_id = endpoint.tenant_id and secret.endpoint_id = endpoint.id
              and (secret.expires_at is null or secret.expires_at > now())), '[]') as secrets
        from webhook_endpoints endpoint join tenants tenant on tenant.id = endpoint.tenant_id
        where (endpoint.tenant_id, endpoint.id) in (
          select * from unnest(${endpoints.map((each) => each.tenantId)}::text[],
            ${endpoints.map((each) => each.endpointId)}::text[]))`;
    },

    /** Creates a tenant's cursor, at the end of the log if no endpoint is active. Locks it until the commit. */
    async openCursor(tenantId: TenantId): Promise<void> {
      const inUse = sql`exists (select from webhook_endpoints where tenant_id = ${tenantId} and status = 'active')`;
      await sql`
        insert into webhook_cursors (tenant_id, stamp, id)
        values (${tenantId}, stamp_horizon(), '')
        on conflict (tenant_id) do update set
          stamp = case when ${inUse} then webhook_cursors.stamp else excluded.stamp end,
          id = case when ${inUse} then webhook_cursors.id else excluded.id end`;
    },

    /** Locks a tenant's cursor until the transaction ends; undefined if another node holds the lock. */
    lockCursor: (tenantId: TenantId) =>
      sql<Position[]>`
        select stamp::text, id from webhook_cursors where tenant_id = ${tenantId} for update skip locked`.first(),

    async moveCursor(tenantId: TenantId, { stamp, id }: Position): Promise<void> {
      await sql`update webhook_cursors set stamp = ${stamp}::text::bigint, id = ${id} where tenant_id = ${tenantId}`;
    },

    /** The cursors of up to `limit` tenants with active endpoints, after a tenant. */
    async cursors(after: string, limit: number): Promise<(Position & { tenantId: TenantId })[]> {
      return sql<(Position & { tenantId: TenantId })[]>`
        select tenant_id, stamp::text, id from webhook_cursors cursor
        where tenant_id > ${after} and exists (
          select from webhook_endpoints where tenant_id = cursor.tenant_id and status = 'active')
        order by tenant_id limit ${limit}`;
    },

    /** The ids of the endpoints whose events a caller with this mode may see. Their number is limited. */
    async listIds(tenantId: TenantId, mode: EnvironmentMode): Promise<string[]> {
      const rows = await sql<{ id: string }[]>`
        select id from webhook_endpoints
        where tenant_id = ${tenantId} ${mode === "any" ? sql`` : sql`and environment_mode = ${mode}`}`;
      return rows.map(({ id }) => id);
    },

    /** The active endpoints of a tenant. Their number is limited. */
    async subscribers(tenantId: TenantId): Promise<Subscriber[]> {
      return sql<Subscriber[]>`
        select id, event_types, environment_mode, since_snapshot, since_stamp::text from webhook_endpoints
        where tenant_id = ${tenantId} and status = 'active'`;
    },
  };
}

/** The webhook secrets and headers of all tenants, for re-encryption when the master key changes. */
export function sealedByWebhooks(sql: Sql): readonly Reencryptable[] {
  return [sealedTable(sql, "webhook_secrets", bindingOf), sealedTable(sql, "webhook_headers", headersBindingOf)];
}

/** A JSON value as a parameter. JSON's null is stored as no value. */
function jsonParameter(sql: Sql, value: Json) {
  return value === null ? null : sql.json(value as never);
}
