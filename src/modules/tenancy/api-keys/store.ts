import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../platform/paging/index.ts";
import type { ApiKey, ApiKeyStatus, StoredApiKey } from "./domain/api-key.ts";

export function apiKeyStore(sql: Sql) {
  const columns = sql`
    tenant_id, id, name, prefix, roles, scopes, environment_mode, expires_at, last_used_at, created_by,
    owner, token_roles, revoked_at, revoked_by, created_at, updated_at, record_version`;
  return {
    async insert(key: StoredApiKey): Promise<ApiKey> {
      const [row] = await sql<ApiKey[]>`
        insert into api_keys (tenant_id, id, name, prefix, secret_hash, roles, scopes, environment_mode, expires_at,
          created_by, owner, token_roles, created_at, updated_at)
        values (${key.tenantId}, ${key.id}, ${key.name}, ${key.prefix}, ${key.secretHash}, ${key.roles as string[]},
          ${key.scopes as string[]}, ${key.environmentMode}, ${key.expiresAt}, ${key.createdBy}, ${key.owner},
          ${key.tokenRoles as string[]}, ${key.createdAt}, ${key.updatedAt})
        returning ${columns}`;
      return row!;
    },

    async find(tenantId: TenantId, id: string): Promise<ApiKey | undefined> {
      const [row] = await sql<ApiKey[]>`select ${columns} from api_keys where tenant_id = ${tenantId} and id = ${id}`;
      return row;
    },

    /** The only query without a tenant, because the key determines the tenant. */
    async findByPrefix(prefix: string): Promise<StoredApiKey | undefined> {
      const [row] = await sql<StoredApiKey[]>`select ${columns}, secret_hash from api_keys where prefix = ${prefix}`;
      return row;
    },

    async revoke(tenantId: TenantId, id: string, by: string, now: Date): Promise<ApiKey | undefined> {
      const [row] = await sql<ApiKey[]>`
        update api_keys set revoked_at = ${now}, revoked_by = ${by}, updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${tenantId} and id = ${id} and revoked_at is null
        returning ${columns}`;
      return row;
    },

    async revokeOwnedBy(tenantId: TenantId, owners: readonly string[], by: string, now: Date): Promise<ApiKey[]> {
      return sql<ApiKey[]>`
        update api_keys set revoked_at = ${now}, revoked_by = ${by}, updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${tenantId} and owner <> '' and owner = any(${owners as string[]}) and revoked_at is null
        returning ${columns}`;
    },

    /** The ids of all keys with one of these owners. */
    async listOwnedBy(tenantId: TenantId, owners: readonly string[]): Promise<string[]> {
      const rows = await sql<{ id: string }[]>`
        select id from api_keys where tenant_id = ${tenantId} and owner <> '' and owner = any(${owners as string[]})`;
      return rows.map(({ id }) => id);
    },

    async replaceSecret(tenantId: TenantId, id: string, secretHash: string, now: Date): Promise<void> {
      await sql`
        update api_keys set secret_hash = ${secretHash}, updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${tenantId} and id = ${id}`;
    },

    async list(tenantId: TenantId, status: ApiKeyStatus | undefined, now: Date, page: Page): Promise<PageRows<ApiKey>> {
      const statusFilter =
        status === undefined
          ? sql``
          : {
              active: sql`and revoked_at is null and (expires_at is null or expires_at > ${now})`,
              revoked: sql`and revoked_at is not null`,
              expired: sql`and revoked_at is null and expires_at <= ${now}`,
            }[status];
      return readKeyset<ApiKey>(
        sql,
        { columns, table: "api_keys", where: sql`tenant_id = ${tenantId} ${statusFilter}` },
        page,
      );
    },

    /** Stores when keys were last used, in one statement. */
    async touch(uses: readonly { tenantId: TenantId; id: string; at: Date }[]): Promise<void> {
      await sql`
        update api_keys set last_used_at = used.at
        from unnest(${uses.map((use) => use.tenantId)}::text[], ${uses.map((use) => use.id)}::text[],
          ${uses.map((use) => use.at.toISOString())}::timestamptz[]) as used(tenant_id, id, at)
        where api_keys.tenant_id = used.tenant_id and api_keys.id = used.id`;
    },
  };
}
