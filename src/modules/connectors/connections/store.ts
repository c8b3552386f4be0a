import { productionKey, type TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { Page, PageRows } from "../../../platform/paging/index.ts";
import { recordTable } from "../../../platform/records/index.ts";
import {
  type Account,
  type Connection,
  type ConnectionAttempt,
  type ConnectionStatus,
  grantedStatus,
  type ProviderRevocation,
  type ReauthReason,
  type SealedConnection,
} from "./domain/connection.ts";
import type { GrantEnd } from "./domain/refresh-policy.ts";

/** The filter of a list. Empty fields match all. */
interface ConnectionFilter
  extends Pick<Connection, "providerConfigId" | "providerKey" | "environmentId">,
    Record<"endUserId" | "status", string> {
  /** Only production, or only other environments; undefined for all. */
  readonly inProduction: boolean | undefined;
}

/** New credentials of a connection, with everything that the provider reported with them. */
export interface StoredGrant
  extends Pick<SealedConnection, "ciphertext" | "keyId" | "expiresAt" | "captured" | "scopes"> {
  readonly idleRefreshAt: Date | null;
}

/** When a connection needs attention that no caller asks for. */
interface RefreshDates {
  readonly idleRefreshAt: Date | null;
  readonly reauthNoticeAt: Date | null;
}

/** Everything that a reconnection replaces. */
type StoredReconnection = StoredGrant &
  GrantEnd &
  Pick<Connection, "settings" | "account" | "accountChoices" | "authMode" | "providerConfigId"> &
  Pick<Connection, "manifestVersion" | "manifestDigest">;

const attemptsKept = 20;

/** The result of a test. */
interface StoredTest {
  readonly class: string;
  readonly account?: Account | undefined;
  /** Whether it makes the connection usable again. */
  readonly isRepaired?: boolean | undefined;
}

/** Identifies a connection. */
export interface ConnectionRef {
  readonly tenantId: TenantId;
  readonly id: string;
}

type Row = Omit<Connection, "endUser" | "account"> & {
  readonly endUser: Partial<NonNullable<Connection["endUser"]>>;
  readonly accountId: string;
  readonly accountLabel: string;
};
type Sealed = Pick<SealedConnection, "ciphertext" | "keyId">;
type SealedRow = Row & Sealed;

const connections = recordTable<Row, Sealed & RefreshDates>("connector_connections", {
  fixed: "tenant_id id environment_id environment_key provider_key created_at",
  mutable: `name provider_config_id end_user status status_reason provider_revocation scopes settings captured auth_mode
    manifest_version manifest_digest account_id account_label account_choices credential_version expires_at
    grant_expires_at last_refreshed_at last_refresh_error last_tested_at last_test_class revoked_at updated_at
    record_version`,
  internal: "ciphertext key_id idle_refresh_at reauth_notice_at",
});

/** The SQL queries of connections. Only queries that need ciphertexts read them. */
export function connectionStore(sql: Sql) {
  const { columns, insert, find, lock, update, set, listWhere } = connections(sql);
  const one = (row: Row | undefined) => row && toConnection(row);
  return {
    async insert({ account, endUser, ...connection }: SealedConnection, dates: RefreshDates): Promise<Connection> {
      const row = { ...connection, accountId: account.id, accountLabel: account.label, endUser: endUser ?? {} };
      return toConnection(await insert({ ...row, ...dates }));
    },

    /**
     * Counts a new connection, unless the tenant has the maximum. Also locks out concurrent creation in the tenant until the
     * transaction ends.
     */
    async countNew(tenantId: TenantId, max: number): Promise<boolean> {
      const rows = await sql`
        insert into connector_connection_counts as counted (tenant_id, live_count) values (${tenantId}, 1)
        on conflict (tenant_id) do update set live_count = counted.live_count + 1 where counted.live_count < ${max}
        returning 1`;
      return rows.length > 0;
    },

    /** Counts a revocation. */
    async countRevoked(tenantId: TenantId): Promise<void> {
      await sql`
        update connector_connection_counts set live_count = greatest(live_count - 1, 0) where tenant_id = ${tenantId}`;
    },

    /** Whether a provider has connections that are not revoked. */
    async hasProvider(tenantId: TenantId, providerKey: string): Promise<boolean> {
      const [row] = await sql<{ found: boolean }[]>`
        select exists (select from connector_connections
          where tenant_id = ${tenantId} and provider_key = ${providerKey} and status <> 'revoked') as found`;
      return row!.found;
    },

    find: async (tenantId: TenantId, id: string) => one(await find(tenantId, id)),

    /** Finds a connection and locks it until the transaction ends. */
    lock: async (tenantId: TenantId, id: string) => one(await lock(tenantId, id)),

    async findSealed(tenantId: TenantId, id: string): Promise<SealedConnection | undefined> {
      const [row] = await sql<SealedRow[]>`
        select ${columns}, ciphertext, key_id from connector_connections
        where tenant_id = ${tenantId} and id = ${id}`;
      return row && toSealed(row);
    },

    /** Finds many connections of any tenants with one statement. */
    async findManySealed(refs: readonly ConnectionRef[]): Promise<SealedConnection[]> {
      const rows = await sql<SealedRow[]>`
        select ${columns}, ciphertext, key_id from connector_connections
        where (tenant_id, id) in (
          select * from unnest(${refs.map((each) => each.tenantId)}::text[], ${refs.map((each) => each.id)}::text[]))`;
      return rows.map(toSealed);
    },

    /** Changes the name or the end user. Undefined fields stay unchanged. The caller holds a lock. */
    update: (
      tenantId: TenantId,
      id: string,
      { name, endUser }: Partial<Pick<Connection, "name" | "endUser">>,
      now: Date,
    ) => update(tenantId, id, { name, endUser }, undefined, now),

    /** Makes a connection act for one of the accounts that its grant reaches. The caller holds a lock. */
    chooseAccount({ tenantId, id, account, captured }: Connection, now: Date) {
      const chosen = { accountId: account.id, accountLabel: account.label, captured, accountChoices: [] };
      return update(tenantId, id, { ...chosen, status: "active" }, undefined, now);
    },

    /** Replaces settings and sealed credentials that no manifest describes. The caller holds a lock. */
    replaceSealed(
      tenantId: TenantId,
      id: string,
      connection: Sealed & Pick<Connection, "settings" | "expiresAt"> & GrantEnd,
      now: Date,
    ) {
      const replaced = sql`ciphertext = ${connection.ciphertext}, key_id = ${connection.keyId},
        settings = ${sql.json(connection.settings as never)}, credential_version = credential_version + 1,
        expires_at = ${connection.expiresAt}, status = 'active', status_reason = '',
        grant_expires_at = ${connection.grantExpiresAt}, reauth_notice_at = ${connection.reauthNoticeAt}`;
      return set(tenantId, id, now, replaced);
    },

    /** Replaces the credentials and everything that belongs to them. The caller holds a lock. */
    async reconnect(tenantId: TenantId, id: string, grant: StoredReconnection, now: Date): Promise<Connection> {
      const replaced = sql`ciphertext = ${grant.ciphertext}, key_id = ${grant.keyId},
          credential_version = credential_version + 1, expires_at = ${grant.expiresAt},
          idle_refresh_at = ${grant.idleRefreshAt}, captured = ${sql.json(grant.captured as never)},
          scopes = ${grant.scopes as string[]}, settings = ${sql.json(grant.settings as never)},
          account_id = ${grant.account.id}, account_label = ${grant.account.label},
          account_choices = ${sql.json(grant.accountChoices as never)}, auth_mode = ${grant.authMode},
          manifest_version = ${grant.manifestVersion}, manifest_digest = ${grant.manifestDigest},
          provider_config_id = ${grant.providerConfigId}, status = ${grantedStatus(grant)}, status_reason = '',
          grant_expires_at = ${grant.grantExpiresAt}, reauth_notice_at = ${grant.reauthNoticeAt},
          last_refreshed_at = ${now}, last_refresh_error = ''`;
      return toConnection((await set(tenantId, id, now, replaced))!);
    },

    /**
     * Revokes a connection; undefined if it is already revoked or does not exist. The credentials are erased unless they are
     * needed to revoke the grant at the provider.
     */
    async revoke(
      tenantId: TenantId,
      id: string,
      revocation: ProviderRevocation & ("pending" | "not_offered"),
      now: Date,
    ): Promise<Connection | undefined> {
      const erased = revocation === "pending" ? sql`` : sql`ciphertext = '', key_id = '',`;
      const assignments = sql`status = 'revoked', status_reason = '', ${erased}
        provider_revocation = ${revocation}, idle_refresh_at = null, reauth_notice_at = null, revoked_at = ${now}`;
      return one(await set(tenantId, id, now, assignments, sql`status <> 'revoked'`));
    },

    /** Records the result of a test. An account is stored only if none was known. */
    async recordTest({ tenantId, id }: ConnectionRef, tested: StoredTest, now: Date): Promise<Connection> {
      const { account, isRepaired = false } = tested;
      const recorded = sql`last_tested_at = ${now}, last_test_class = ${tested.class},
        account_id = case when account_id = '' then ${account?.id ?? ""} else account_id end,
        account_label = case when account_id = '' then ${account?.label ?? ""} else account_label end
        ${isRepaired ? sql`, status = 'active', status_reason = ''` : sql``}`;
      return toConnection((await set(tenantId, id, now, recorded))!);
    },

    /** Adds an attempt to the log of a connection, which keeps the last ones. The record keeps its version. */
    async recordAttempt({ tenantId, id }: ConnectionRef, attempt: ConnectionAttempt): Promise<void> {
      await sql`
        update connector_connections
        set attempts = jsonb_path_query_array(${sql.json([attempt] as never)} || attempts, ${`$[0 to ${attemptsKept - 1}]`})
        where tenant_id = ${tenantId} and id = ${id}`;
    },

    /** The last attempts, newest first. */
    async attempts(tenantId: TenantId, id: string): Promise<readonly ConnectionAttempt[]> {
      const [row] = await sql<{ attempts: readonly (Omit<ConnectionAttempt, "at"> & { readonly at: string })[] }[]>`
        select attempts from connector_connections where tenant_id = ${tenantId} and id = ${id}`;
      return (row?.attempts ?? []).map((each) => ({ ...each, at: new Date(each.at) }));
    },

    /** Erases the credentials of a revoked connection and records what became of its grant at the provider. */
    async eraseRevoked(
      { tenantId, id }: ConnectionRef,
      revocation: "succeeded" | "failed" | "not_offered",
      now: Date,
    ): Promise<void> {
      await sql`
        update connector_connections set ciphertext = '', key_id = '', provider_revocation = ${revocation},
          updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${tenantId} and id = ${id} and status = 'revoked' and provider_revocation = 'pending'`;
    },

    /** Erases the credentials of connections whose revocation at the provider never ended; returns their number. */
    async eraseAbandoned(revokedBefore: Date, now: Date, limit: number): Promise<number> {
      const { count } = await sql`
        update connector_connections set ciphertext = '', key_id = '', provider_revocation = 'failed',
          updated_at = ${now}, record_version = record_version + 1
        where (tenant_id, id) in (
          select tenant_id, id from connector_connections
          where provider_revocation = 'pending' and revoked_at < ${revokedBefore}
          order by tenant_id, id limit ${limit} for update skip locked)`;
      return count;
    },

    /** Marks a connection that only the end user can repair; undefined if its credentials or its status changed. */
    async markNeedsReauth(
      { tenantId, id }: ConnectionRef,
      credentialVersion: number,
      reason: ReauthReason,
      now: Date,
    ): Promise<Connection | undefined> {
      const assignments = sql`
        status = 'needs_reauth', status_reason = ${reason}, idle_refresh_at = null, reauth_notice_at = null`;
      const isCurrent = sql`credential_version = ${credentialVersion} and status = 'active'`;
      return one(await set(tenantId, id, now, assignments, isCurrent));
    },

    /** Takes connections whose grant ends soon, each once. The caller tells their tenants in the same transaction. */
    async takeNotices(now: Date, limit: number): Promise<readonly Connection[]> {
      const rows = await sql<Row[]>`
        update connector_connections set reauth_notice_at = null
        where (tenant_id, id) in (
          select tenant_id, id from connector_connections where reauth_notice_at <= ${now} and status = 'active'
          order by reauth_notice_at limit ${limit} for update skip locked)
        returning ${columns}`;
      return rows.map(toConnection);
    },

    async list(tenantId: TenantId, filter: ConnectionFilter, page: Page): Promise<PageRows<Connection>> {
      const { endUserId, providerConfigId, providerKey, status, environmentId, inProduction } = filter;
      // The most selective condition uses its index. The others are evaluated row by row.
      const [where, ...others] = [
        ...(endUserId === "" ? [] : [sql`end_user ->> 'id' = ${endUserId}`]),
        ...(providerConfigId === ""
          ? []
          : [sql`provider_config_id = ${providerConfigId} and provider_config_id <> ''`]),
        ...(providerKey === "" ? [] : [sql`provider_key = ${providerKey}`]),
        ...(status === "" ? [] : [sql`status = ${status}`]),
      ];
      const filters = [
        ...others,
        ...(environmentId === "" ? [] : [sql`environment_id = ${environmentId}`]),
        ...(inProduction === undefined ? [] : [sql`(environment_key = ${productionKey}) = ${inProduction}`]),
      ];
      const condition = filters.length === 0 ? undefined : filters.reduce((all, each) => sql`${all} and ${each}`);
      const { rows, ...rest } = await listWhere(tenantId, {}, page, { where, filter: condition });
      return { ...rest, rows: rows.map(toConnection) };
    },
  };
}

function toConnection({ endUser, accountId, accountLabel, ...row }: Row): Connection {
  const { id = "", email = "", displayName = "" } = endUser;
  return {
    ...row,
    status: row.status as ConnectionStatus,
    account: { id: accountId, label: accountLabel },
    endUser: id === "" ? undefined : { id, email, displayName },
  };
}

function toSealed({ ciphertext, keyId, ...row }: SealedRow): SealedConnection {
  return { ...toConnection(row), ciphertext, keyId };
}
