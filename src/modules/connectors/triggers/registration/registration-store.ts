import type { TenantId } from "../../../../platform/access/index.ts";
import { type Fragment, fromNow, isServed, type Sql } from "../../../../platform/db/index.ts";
import type { JsonObject } from "../../../../platform/document/index.ts";
import type { LeaseRequest } from "../../../../platform/jobs/index.ts";
import type { SealedSecrets } from "../sealed-secrets.ts";

/** A webhook at a provider that this node registers, renews or removes. */
export interface Registration {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly subscriptionId: string;
  readonly triggerKey: string;
  readonly connectionId: string;
  readonly input: JsonObject;
  readonly state: "pending" | "active" | "removing";
  readonly externalId: string;
  readonly ciphertext: string;
  readonly expiresAt: Date | null;
  readonly failures: number;
  readonly claim: string;
}

/** A registration to insert; it is due at once. */
type NewRegistration = Omit<Registration, "state" | "externalId" | "expiresAt" | "failures" | "claim"> &
  SealedSecrets & { readonly shard: number; readonly createdAt: Date };

/** A provider's answer to a registration or renewal. */
export interface Registered {
  readonly externalId: string;
  readonly expiresAt: Date | null;
  /** When it is renewed; null if never. */
  readonly dueAt: Date | null;
  /** The secrets, if the provider chose another one. */
  readonly sealed?: SealedSecrets | undefined;
}

/** After this many failed removals of a webhook, its successor is registered anyway. */
const removalFailuresMax = 3;

/** The SQL queries of registrations. Due times are the database's, so that the clocks of nodes do not matter. */
export function registrationStore(sql: Sql) {
  const own = ({ tenantId, id, claim }: Registration) =>
    sql`tenant_id = ${tenantId} and id = ${id} and claim = ${claim} and claim <> ''`;
  return {
    async insert(row: NewRegistration): Promise<void> {
      await sql`
        insert into connector_trigger_registrations (tenant_id, id, subscription_id, trigger_key, connection_id, input, state,
          ciphertext, key_id, shard, due_at, created_at)
        values (${row.tenantId}, ${row.id}, ${row.subscriptionId}, ${row.triggerKey}, ${row.connectionId},
          ${JSON.stringify(row.input)}::text::json, 'pending', ${row.ciphertext}, ${row.keyId}, ${row.shard}, now(),
          ${row.createdAt})`;
    },

    /** Schedules the removal of a subscription's registrations at the provider. A running call keeps its claim until it ends. */
    async removeAll(tenantId: TenantId, subscriptionId: string): Promise<void> {
      await sql`
        update connector_trigger_registrations set state = 'removing', failures = 0, last_error = '',
          due_at = case when claim = '' then now() else due_at end
        where tenant_id = ${tenantId} and subscription_id = ${subscriptionId} and state <> 'removing'`;
    },

    /** Claims due registrations of shards for a time, none of busy tenants. Rows with an expired claim are due as well. */
    async claimDue(
      current: Fragment,
      { busyTenants, limit, token }: LeaseRequest,
      claimMs: number,
    ): Promise<Registration[]> {
      return sql<Registration[]>`
        with current as (${current}),
        due as (
          select tenant_id, id from connector_trigger_registrations candidate
          where shard in (select shard from current) and due_at <= now() and tenant_id <> all(${busyTenants as string[]})
            and ${isServed(sql, sql`candidate.tenant_id`)}
            -- Providers refuse a second webhook with the same URL, so the previous one is removed first.
            and not (state = 'pending' and exists (
              select from connector_trigger_registrations other
              where other.tenant_id = candidate.tenant_id and other.subscription_id = candidate.subscription_id
                and other.state = 'removing' and other.failures < ${removalFailuresMax}))
          order by due_at limit ${limit} for update skip locked)
        update connector_trigger_registrations registration set claim = ${token}, due_at = ${fromNow(sql, claimMs)}
        from due where registration.tenant_id = due.tenant_id and registration.id = due.id
        returning registration.tenant_id, registration.id, subscription_id, trigger_key, connection_id, input, state,
          external_id, ciphertext, expires_at, failures, claim`;
    },

    /** Stores a successful registration or renewal, possibly for the second time; undefined if the claim is lost. */
    async storeRegistered(
      registration: Registration,
      { externalId, expiresAt, dueAt, sealed }: Registered,
    ): Promise<Registration["state"] | undefined> {
      const [row] = await sql<Pick<Registration, "state">[]>`
        update connector_trigger_registrations set external_id = ${externalId}, expires_at = ${expiresAt}, claim = '',
          ciphertext = coalesce(${sealed?.ciphertext ?? null}, ciphertext), key_id = coalesce(${sealed?.keyId ?? null}, key_id),
          failures = 0, last_error = '',
          -- A registration that is to be removed meanwhile can be removed now that its id is known.
          due_at = case when state = 'removing' then now() else ${dueAt}::timestamptz end,
          state = case when state = 'removing' then state else 'active' end
        where ${own(registration)}
          or (tenant_id = ${registration.tenantId} and id = ${registration.id} and claim = '' and external_id = ${externalId})
        returning state`;
      return row?.state;
    },

    /** Stores a failed attempt; undefined if the claim is lost. */
    async storeFailure(
      registration: Registration,
      { waitMs, message, isExpired }: Readonly<{ waitMs: number; message: string; isExpired: boolean }>,
    ): Promise<Registration["state"] | undefined> {
      const [row] = await sql<Pick<Registration, "state">[]>`
        update connector_trigger_registrations set claim = '', failures = failures + 1, last_error = ${message},
          due_at = ${fromNow(sql, waitMs)}
          -- After its expiry there is nothing to renew: the next attempt registers again.
          ${isExpired ? sql`, state = case when state = 'active' then 'pending' else state end` : sql``}
        where ${own(registration)} returning state`;
      return row?.state;
    },

    /** Makes a registration that the provider no longer has pending again, with a new attempt at once. */
    async registerAgain(registration: Registration): Promise<void> {
      await sql`
        update connector_trigger_registrations set claim = '', external_id = '', expires_at = null, failures = 0,
          state = case when state = 'removing' then state else 'pending' end, due_at = now()
        where ${own(registration)}`;
    },

    /** Deletes a registration that the provider has removed. */
    async remove(registration: Registration): Promise<void> {
      await sql`delete from connector_trigger_registrations where ${own(registration)}`;
    },
  };
}
