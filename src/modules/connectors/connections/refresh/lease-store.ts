import { isServed, type Sql } from "../../../../platform/db/index.ts";
import type { Connection } from "../domain/connection.ts";
import type { ConnectionRef, StoredGrant } from "../store.ts";

/** The right to send a connection's grant to its provider. */
export interface RefreshLease {
  /** Only the holder of the current fence may write. */
  readonly fence: string;
  /** The version of the credentials that an earlier holder sent with an unknown outcome; null if there is none. */
  readonly attemptedVersion: number | null;
  /** The number of consecutive failures. */
  readonly failures: number;
}

/** Why a lease was not granted, with the time to wait. */
export interface LeaseRefusal {
  readonly kind: "held" | "backing_off";
  readonly waitMs: number;
}

/** The state of a lease after a failed request. */
export interface LeaseFailure {
  readonly failures: number;
  readonly retryInMs: number;
  /** Whether the provider may have spent the grant. */
  readonly outcomeUnknown: boolean;
}

/** The SQL queries of refresh leases. The database clock decides, because nodes' clocks may differ. */
export function leaseStore(sql: Sql) {
  const ms = (value: number) => sql`make_interval(secs => ${value / 1000}::double precision)`;
  return {
    /** Claims the lease of a connection if nobody holds it. With `force`, a back-off is ignored. */
    async claim(
      { tenantId, id }: ConnectionRef,
      leaseMs: number,
      force: boolean,
    ): Promise<RefreshLease | LeaseRefusal> {
      const [lease] = await sql<RefreshLease[]>`
        insert into connector_refresh_leases as lease (tenant_id, connection_id, fence, leased_until)
        values (${tenantId}, ${id}, 1, clock_timestamp() + ${ms(leaseMs)})
        on conflict (tenant_id, connection_id) do update
        set fence = lease.fence + 1, leased_until = excluded.leased_until
        where lease.leased_until <= clock_timestamp()
          and (${force} or lease.retry_at is null or lease.retry_at <= clock_timestamp())
        returning fence::text as fence, attempted_version, failures`;
      if (lease !== undefined) return lease;
      const [held] = await sql<{ heldMs: number; backoffMs: number }[]>`
        select coalesce(extract(epoch from leased_until - clock_timestamp()) * 1000, 0)::float8 as held_ms,
          coalesce(extract(epoch from retry_at - clock_timestamp()) * 1000, 0)::float8 as backoff_ms
        from connector_refresh_leases where tenant_id = ${tenantId} and connection_id = ${id}`;
      if (held === undefined || held.heldMs > 0 || force || held.backoffMs <= 0) {
        return { kind: "held", waitMs: Math.max(0, held?.heldMs ?? 0) };
      }
      return { kind: "backing_off", waitMs: held.backoffMs };
    },

    /** Records that a request with the credentials of this version is about to be sent; false if the lease is lost. */
    async begin({ tenantId, id }: ConnectionRef, fence: string, version: number): Promise<boolean> {
      const { count } = await sql`
        update connector_refresh_leases set attempted_version = ${version}
        where tenant_id = ${tenantId} and connection_id = ${id} and fence = ${fence}::text::bigint
          and leased_until > clock_timestamp()`;
      return count > 0;
    },

    /** Ends a lease without a request. What is known about earlier requests stays. */
    async giveBack({ tenantId, id }: ConnectionRef, fence: string): Promise<void> {
      await sql`
        update connector_refresh_leases set leased_until = clock_timestamp()
        where tenant_id = ${tenantId} and connection_id = ${id} and fence = ${fence}::text::bigint`;
    },

    /** Ends a lease; false if it is lost. Without `failure`, the outcome of the request is known. */
    async release({ tenantId, id }: ConnectionRef, fence: string, failure?: LeaseFailure): Promise<boolean> {
      const retryAt = failure === undefined ? sql`null` : sql`clock_timestamp() + ${ms(failure.retryInMs)}`;
      const { count } = await sql`
        update connector_refresh_leases set leased_until = clock_timestamp(), failures = ${failure?.failures ?? 0},
          retry_at = ${retryAt},
          attempted_version = ${failure?.outcomeUnknown ? sql`attempted_version` : sql`null`}
        where tenant_id = ${tenantId} and connection_id = ${id} and fence = ${fence}::text::bigint`;
      return count > 0;
    },

    /**
     * Stores refreshed credentials and ends the lease, in one statement. False if the lease is lost or the credentials
     * changed. The credentials of a revoked connection are stored too while its grant is still to be revoked, so that the
     * revocation covers them.
     */
    async storeGrant(
      { tenantId, id }: ConnectionRef,
      fence: string,
      spentVersion: number,
      grant: StoredGrant,
      now: Date,
    ): Promise<boolean> {
      const { count } = await sql`
        -- The connection is locked before its lease, as by those who replace or revoke its grant, to avoid deadlocks.
        with locked as (
          select from connector_connections where tenant_id = ${tenantId} and id = ${id} for update
        ), held as (
          update connector_refresh_leases set leased_until = clock_timestamp(), attempted_version = null, failures = 0,
            retry_at = null
          where tenant_id = ${tenantId} and connection_id = ${id} and fence = ${fence}::text::bigint
            and exists (select from locked)
          returning 1)
        update connector_connections set ciphertext = ${grant.ciphertext}, key_id = ${grant.keyId},
          credential_version = credential_version + 1, expires_at = ${grant.expiresAt},
          idle_refresh_at = case when status = 'revoked' then null else ${grant.idleRefreshAt}::timestamptz end,
          captured = ${sql.json(grant.captured as never)}, scopes = ${grant.scopes as string[]},
          -- A late answer repairs what its interruption has broken.
          status = case when status_reason = 'refresh_interrupted' then 'active' else status end,
          status_reason = case when status_reason = 'refresh_interrupted' then '' else status_reason end,
          last_refreshed_at = ${now}, last_refresh_error = '', updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${tenantId} and id = ${id} and credential_version = ${spentVersion} and ciphertext <> ''
          and exists (select from held)`;
      return count > 0;
    },

    /** Records why the last refresh failed. */
    async recordError({ tenantId, id }: ConnectionRef, code: string, now: Date): Promise<void> {
      await sql`
        update connector_connections set last_refresh_error = ${code}, updated_at = ${now},
          record_version = record_version + 1
        where tenant_id = ${tenantId} and id = ${id} and status = 'active' and last_refresh_error <> ${code}`;
    },

    /** Forgets the failures of credentials that were replaced. */
    async reset({ tenantId, id }: ConnectionRef): Promise<void> {
      await sql`
        update connector_refresh_leases set attempted_version = null, failures = 0, retry_at = null
        where tenant_id = ${tenantId} and connection_id = ${id}`;
    },

    /** Postpones the use of a refresh token that could not be used. */
    async postponeIdle({ tenantId, id }: ConnectionRef, until: Date): Promise<void> {
      await sql`
        update connector_connections set idle_refresh_at = ${until}
        where tenant_id = ${tenantId} and id = ${id} and idle_refresh_at < ${until}`;
    },

    /** Connections whose refresh token must be used before it ends for lack of use. */
    async findIdle(now: Date, limit: number): Promise<readonly DueConnection[]> {
      return sql<DueConnection[]>`
        select connection.tenant_id, connection.id, credential_version from connector_connections connection
        left join connector_refresh_leases lease
          on lease.tenant_id = connection.tenant_id and lease.connection_id = connection.id
        where idle_refresh_at <= ${now} and status = 'active' and ${isServed(sql, sql`connection.tenant_id`)}
          and (lease.retry_at is null or lease.retry_at <= clock_timestamp())
        order by idle_refresh_at limit ${limit}`;
    },

    /** Connections with a request whose outcome is unknown, because its node ended or its answer was lost. */
    async findInterrupted(limit: number): Promise<readonly DueConnection[]> {
      return sql<DueConnection[]>`
        select connection.tenant_id, connection.id, credential_version
        from connector_refresh_leases lease join connector_connections connection
          on connection.tenant_id = lease.tenant_id and connection.id = lease.connection_id
        where attempted_version is not null and leased_until <= clock_timestamp()
          and (retry_at is null or retry_at <= clock_timestamp()) and status = 'active'
          and attempted_version = credential_version
        order by leased_until limit ${limit}`;
    },
  };
}

export type DueConnection = Pick<Connection, "tenantId" | "id" | "credentialVersion">;
