import type { TenantId } from "../../../platform/access/index.ts";
import type { Reencryptable } from "../../../platform/crypto/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../platform/paging/index.ts";
import { bindingOf, type Connection, type SealedConnection } from "./domain/connection.ts";

/** The filter of a list of connections. */
export interface ConnectionFilter {
  readonly providerKey: string | undefined;
  readonly status: string | undefined;
}

type Row = Omit<Connection, "endUser"> & { readonly endUser: Partial<NonNullable<Connection["endUser"]>> };

/** The SQL queries of connections. Only queries that need ciphertexts read them. */
export function connectionStore(sql: Sql) {
  const columns = sql`
    tenant_id, id, name, provider_key, provider_config_id, end_user, status, scopes, settings, expires_at,
    last_refreshed_at, revoked_at, created_at, updated_at, record_version`;
  return {
    async insert(connection: SealedConnection): Promise<Connection> {
      const [row] = await sql<Row[]>`
        insert into connector_connections (tenant_id, id, name, provider_key, end_user, status, scopes, settings,
          ciphertext, key_id, expires_at, created_at, updated_at)
        values (${connection.tenantId}, ${connection.id}, ${connection.name}, ${connection.providerKey},
          ${sql.json((connection.endUser ?? {}) as never)}, ${connection.status}, ${connection.scopes as string[]},
          ${sql.json(connection.settings as never)}, ${connection.ciphertext}, ${connection.keyId},
          ${connection.expiresAt}, ${connection.createdAt}, ${connection.updatedAt})
        returning ${columns}`;
      return asConnection(row!);
    },

    async count(tenantId: TenantId): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from connector_connections
        where tenant_id = ${tenantId} and status <> 'revoked'`;
      return row!.count;
    },

    /** Whether a provider has connections that are not revoked. */
    async hasProvider(tenantId: TenantId, providerKey: string): Promise<boolean> {
      const [row] = await sql<{ found: boolean }[]>`
        select exists (select from connector_connections
          where tenant_id = ${tenantId} and provider_key = ${providerKey} and status <> 'revoked') as found`;
      return row!.found;
    },

    async find(tenantId: TenantId, id: string): Promise<Connection | undefined> {
      const [row] = await sql<Row[]>`
        select ${columns} from connector_connections where tenant_id = ${tenantId} and id = ${id}`;
      return row && asConnection(row);
    },

    async findSealed(tenantId: TenantId, id: string): Promise<SealedConnection | undefined> {
      const [row] = await sql<(Row & { ciphertext: string; keyId: string })[]>`
        select ${columns}, ciphertext, key_id from connector_connections
        where tenant_id = ${tenantId} and id = ${id}`;
      return row && { ...asConnection(row), ciphertext: row.ciphertext, keyId: row.keyId };
    },

    /** Revokes a connection and erases its credentials; undefined if it is already revoked or does not exist. */
    async revoke(tenantId: TenantId, id: string, now: Date): Promise<Connection | undefined> {
      const [row] = await sql<Row[]>`
        update connector_connections set status = 'revoked', ciphertext = '', key_id = '', revoked_at = ${now},
          updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${tenantId} and id = ${id} and status <> 'revoked'
        returning ${columns}`;
      return row && asConnection(row);
    },

    async list(tenantId: TenantId, filter: ConnectionFilter, page: Page): Promise<PageRows<Connection>> {
      const where = sql`tenant_id = ${tenantId}
        ${filter.providerKey === undefined ? sql`` : sql`and provider_key = ${filter.providerKey}`}
        ${filter.status === undefined ? sql`` : sql`and status = ${filter.status}`}`;
      const { rows, total } = await readKeyset<Row>(sql, { columns, table: "connector_connections", where }, page);
      return { rows: rows.map(asConnection), total };
    },
  };
}

function asConnection({ endUser, ...row }: Row): Connection {
  const { id = "", email = "", displayName = "" } = endUser;
  return { ...row, endUser: id === "" ? undefined : { id, email, displayName } };
}

/** The credentials of all tenants, for re-encryption. Revoked connections have none. */
export function reencryptableConnections(sql: Sql): Reencryptable {
  return {
    bindingOf,

    async next(activeKeyId, after, limit) {
      // An index supports < and > but not <>. Mostly no row matches.
      return sql`
        select tenant_id, id, ciphertext from connector_connections
        where (key_id < ${activeKeyId} or key_id > ${activeKeyId}) and ciphertext <> ''
          and (tenant_id, id) > (${after?.tenantId ?? ""}, ${after?.id ?? ""})
        order by tenant_id, id limit ${limit}`;
    },

    async replace(activeKeyId, replacements) {
      // Lock rows in the global order to avoid deadlocks between nodes.
      const { count } = await sql`
        with unchanged as (
          select connection.tenant_id, connection.id, sealed.replacement
          from connector_connections connection join unnest(
              ${replacements.map((each) => each.tenantId)}::text[], ${replacements.map((each) => each.id)}::text[],
              ${replacements.map((each) => each.ciphertext)}::text[],
              ${replacements.map((each) => each.replacement)}::text[]) as sealed(tenant_id, id, ciphertext, replacement)
            on connection.tenant_id = sealed.tenant_id and connection.id = sealed.id
              and connection.ciphertext = sealed.ciphertext
          order by connection.tenant_id, connection.id for update of connection)
        update connector_connections connection set ciphertext = unchanged.replacement, key_id = ${activeKeyId}
        from unchanged where connection.tenant_id = unchanged.tenant_id and connection.id = unchanged.id`;
      return count;
    },
  };
}
