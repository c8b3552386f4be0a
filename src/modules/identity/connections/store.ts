import type { TenantId } from "../../../platform/access/index.ts";
import { type Reencryptable, sealedTable } from "../../../platform/crypto/index.ts";
import { addTenantKey, removeTenantKey, type Sql, tenantOfKey } from "../../../platform/db/index.ts";
import { recordTable } from "../../../platform/records/index.ts";
import type { ExternalPerson, GroupRoles, SsoConnection } from "./domain/connection.ts";

/** A sign-in that a browser has started. */
export interface SignInAttempt {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly connectionId: string;
  readonly cookieHash: Buffer;
  readonly returnTo: string;
  readonly identity: ExternalPerson | null;
  readonly expiresAt: Date;
}

/** The field that a connection's secret is bound to. */
export function bindingOf({ tenantId, id }: { readonly tenantId: string; readonly id: string }) {
  return { tenantId, recordId: id, field: "sso_connections.ciphertext" };
}

const connections = recordTable<SsoConnection, { readonly keyId: string }>("sso_connections", {
  fixed: "tenant_id id kind created_at",
  mutable: `name status just_in_time default_roles email_domains verified_domains domains_checked_at enforced first_sign_in_at
    settings ciphertext updated_at record_version`,
  internal: "key_id",
});

export function connectionStore(sql: Sql) {
  const { columns, insert, find, lock, count, list, update, remove } = connections(sql);
  return {
    async insert(connection: Parameters<typeof insert>[0]): Promise<SsoConnection> {
      await addTenantKey(sql, connection.tenantId, connection.id);
      return insert(connection);
    },
    find,
    lock,
    count,
    list,
    update,

    /** A browser that signs in knows only the connection. */
    findForSignIn: (id: string) =>
      sql<SsoConnection[]>`
        select ${columns} from sso_connections
        where tenant_id = ${tenantOfKey(sql, id)} and id = ${id} and status = 'active'
          and exists (select from tenants where tenants.id = sso_connections.tenant_id and tenants.status = 'active')`.first(),

    /** The active connections of the tenant with a slug. */
    async listForSignIn(slug: string): Promise<SsoConnection[]> {
      return sql<SsoConnection[]>`
        select ${columns} from sso_connections where status = 'active'
          and tenant_id = (select id from tenants where slug = ${slug} and status = 'active')
        order by id limit 20`;
    },

    /** The connections that people with an email address must use; empty if they may use every one. */
    async listEnforcing(tenantId: TenantId, email: string): Promise<readonly string[]> {
      // A name with a dot at its end is the same domain.
      const domain = email.toLowerCase().split("@").at(-1)!.replace(/\.$/, "");
      const rows = await sql<{ id: string }[]>`
        select id from sso_connections
        where tenant_id = ${tenantId} and status = 'active' and enforced
          and ${domain} = any(verified_domains)`;
      return rows.map(({ id }) => id);
    },

    /** Notes that somebody signed in with a connection, the first time. */
    async setFirstSignIn({ tenantId, id }: ConnectionRef, now: Date): Promise<void> {
      await sql`
        update sso_connections set first_sign_in_at = ${now}
        where tenant_id = ${tenantId} and id = ${id} and first_sign_in_at is null`;
    },

    async remove(tenantId: TenantId, id: string): Promise<SsoConnection | undefined> {
      await sql`delete from sso_attempts where tenant_id = ${tenantId} and connection_id = ${id}`;
      await removeTenantKey(sql, tenantId, id);
      return remove(tenantId, id);
    },

    async removeAccounts(tenantId: TenantId, id: string): Promise<void> {
      await sql`delete from sso_accounts where tenant_id = ${tenantId} and connection_id = ${id}`;
    },

    async findAccount(tenantId: TenantId, connectionId: string, subject: string): Promise<string | undefined> {
      const [row] = await sql<{ memberId: string }[]>`
        select member_id from sso_accounts
        where tenant_id = ${tenantId} and connection_id = ${connectionId} and subject = ${subject}`;
      return row?.memberId;
    },

    /** Whether a member has an account of this connection already. */
    async hasAccount(tenantId: TenantId, connectionId: string, memberId: string): Promise<boolean> {
      const rows = await sql`
        select from sso_accounts
        where tenant_id = ${tenantId} and member_id = ${memberId} and connection_id = ${connectionId}`;
      return rows.length > 0;
    },

    async setAccount(tenantId: TenantId, connectionId: string, subject: string, memberId: string): Promise<void> {
      await sql`
        insert into sso_accounts (tenant_id, connection_id, subject, member_id, created_at)
        values (${tenantId}, ${connectionId}, ${subject}, ${memberId}, now())
        on conflict (tenant_id, connection_id, subject) do update set member_id = excluded.member_id`;
    },

    /** Stores the groups of a sign-in. */
    async setGroups(tenantId: TenantId, connectionId: string, subject: string, groups: readonly string[]) {
      await sql`
        update sso_accounts set groups = ${groups as string[]}
        where tenant_id = ${tenantId} and connection_id = ${connectionId} and subject = ${subject}`;
    },
  };
}

type ConnectionRef = Pick<SsoConnection, "tenantId" | "id">;

/** The SQL queries of sign-ins that browsers have started. */
export function attemptStore(sql: Sql) {
  const columns = sql`tenant_id, id, connection_id, cookie_hash, return_to, identity, expires_at`;
  return {
    async insert(attempt: Omit<SignInAttempt, "identity">, stateHash: Buffer, now: Date): Promise<void> {
      await sql`
        insert into sso_attempts (tenant_id, id, connection_id, state_hash, cookie_hash, return_to, expires_at, created_at)
        values (${attempt.tenantId}, ${attempt.id}, ${attempt.connectionId}, ${stateHash}, ${attempt.cookieHash},
          ${attempt.returnTo}, ${attempt.expiresAt}, ${now})`;
    },

    findByState: ({ tenantId, id }: ConnectionRef, stateHash: Buffer, now: Date) =>
      sql<SignInAttempt[]>`
        select ${columns} from sso_attempts
        where tenant_id = ${tenantId} and state_hash = ${stateHash} and connection_id = ${id} and expires_at > ${now}
          and ticket_hash is null`.first(),

    /** Spends an attempt by its state; undefined if it is unknown, expired or was spent. */
    spendState: ({ tenantId, id }: ConnectionRef, stateHash: Buffer, now: Date) =>
      sql<SignInAttempt[]>`
        delete from sso_attempts
        where tenant_id = ${tenantId} and state_hash = ${stateHash} and connection_id = ${id} and expires_at > ${now}
          and ticket_hash is null
        returning ${columns}`.first(),

    /** Stores the verified person of an attempt; false if the attempt was spent meanwhile. */
    async verify(
      { tenantId, id }: Pick<SignInAttempt, "tenantId" | "id">,
      identity: ExternalPerson,
      ticketHash: Buffer,
      expiresAt: Date,
    ): Promise<boolean> {
      const { count } = await sql`
        update sso_attempts set identity = ${sql.json(identity)}, ticket_hash = ${ticketHash}, expires_at = ${expiresAt}
        where tenant_id = ${tenantId} and id = ${id} and ticket_hash is null`;
      return count === 1;
    },

    findByTicket: (tenantId: TenantId, ticketHash: Buffer, now: Date) =>
      sql<SignInAttempt[]>`
        select ${columns} from sso_attempts
        where tenant_id = ${tenantId} and ticket_hash = ${ticketHash} and expires_at > ${now}`.first(),

    /** Spends a verified attempt by its ticket. */
    spendTicket: (tenantId: TenantId, ticketHash: Buffer, now: Date) =>
      sql<SignInAttempt[]>`
        delete from sso_attempts
        where tenant_id = ${tenantId} and ticket_hash = ${ticketHash} and expires_at > ${now}
        returning ${columns}`.first(),
  };
}

const groupRoles = recordTable<GroupRoles>("group_roles", {
  fixed: "tenant_id id created_at",
  mutable: "name roles updated_at record_version",
});

export function groupRoleStore(sql: Sql) {
  const { columns, remove, list } = groupRoles(sql);
  return {
    remove,
    list,

    async set(group: GroupRoles): Promise<GroupRoles> {
      const [row] = await sql<GroupRoles[]>`
        insert into group_roles (tenant_id, id, name, roles, created_at, updated_at)
        values (${group.tenantId}, ${group.id}, ${group.name}, ${group.roles as string[]}, ${group.createdAt},
          ${group.updatedAt})
        on conflict (tenant_id, lower(name)) do update
        set name = excluded.name, roles = excluded.roles, updated_at = excluded.updated_at,
          record_version = group_roles.record_version + 1
        returning ${columns}`;
      return row!;
    },

    find: (tenantId: TenantId, name: string) =>
      sql<GroupRoles[]>`
        select ${columns} from group_roles where tenant_id = ${tenantId} and lower(name) = lower(${name})`.first(),

    /** The roles of groups, by name. */
    async rolesOf(tenantId: TenantId, names: readonly string[]): Promise<string[]> {
      const rows = await sql<{ roles: string[] }[]>`
        select roles from group_roles
        where tenant_id = ${tenantId} and lower(name) = any(select lower(each) from unnest(${names as string[]}::text[]) as each)`;
      return [...new Set(rows.flatMap(({ roles }) => roles))];
    },

    /** The roles that people have through the groups of their last sign-ins, by member; of one member if it is given. */
    async rolesBySignIn(tenantId: TenantId, memberId: string | undefined) {
      const some = memberId === undefined ? sql`` : sql`and accounts.member_id = ${memberId}`;
      return sql<{ memberId: string; roles: string[] }[]>`
        select accounts.member_id, coalesce(array_agg(distinct given.role order by given.role)
          filter (where given.role is not null), '{}') as roles
        from sso_accounts accounts
          left join sso_connections on sso_connections.tenant_id = accounts.tenant_id
            and sso_connections.id = accounts.connection_id and sso_connections.status = 'active'
          left join lateral unnest(accounts.groups) as named(name) on sso_connections.id is not null
          left join group_roles on group_roles.tenant_id = accounts.tenant_id
            and lower(group_roles.name) = lower(named.name)
          left join lateral unnest(group_roles.roles) as given(role) on true
        where accounts.tenant_id = ${tenantId} ${some}
        group by accounts.member_id`;
    },
  };
}

/** The secrets of connections of all tenants, for re-encryption. */
export function reencryptableConnections(sql: Sql): Reencryptable {
  return sealedTable(sql, "sso_connections", bindingOf);
}
