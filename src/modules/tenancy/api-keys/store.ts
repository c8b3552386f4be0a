import type { TenantId } from "../../../platform/access/index.ts";
import { addTenantKey, type Sql, tenantOfKey } from "../../../platform/db/index.ts";
import type { Page, PageRows } from "../../../platform/paging/index.ts";
import { recordTable } from "../../../platform/records/index.ts";
import type { ApiKey, ApiKeyStatus, StoredApiKey } from "./domain/api-key.ts";

const apiKeys = recordTable<ApiKey, Pick<StoredApiKey, "secretHash">>("api_keys", {
  fixed: `tenant_id id name prefix roles scopes environment_mode expires_at max_rps created_by owner token_roles
    created_at`,
  mutable: "last_used_at revoked_at revoked_by updated_at record_version",
  internal: "secret_hash",
});

export function apiKeyStore(sql: Sql) {
  const { columns, insert, find, set, listWhere } = apiKeys(sql);
  return {
    async insert(key: StoredApiKey): Promise<ApiKey> {
      await addTenantKey(sql, key.tenantId, key.prefix);
      return insert(key);
    },
    find,

    /** The key determines the tenant. */
    findByPrefix: (prefix: string) =>
      sql<StoredApiKey[]>`
        select ${columns}, secret_hash from api_keys
        where tenant_id = ${tenantOfKey(sql, prefix)} and prefix = ${prefix}`.first(),

    revoke: (tenantId: TenantId, id: string, by: string, now: Date) =>
      set(tenantId, id, now, sql`revoked_at = ${now}, revoked_by = ${by}`, sql`revoked_at is null`),

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

    replaceSecret: (tenantId: TenantId, id: string, secretHash: string, now: Date) =>
      set(tenantId, id, now, sql`secret_hash = ${secretHash}`),

    list(tenantId: TenantId, status: ApiKeyStatus | undefined, now: Date, page: Page): Promise<PageRows<ApiKey>> {
      const statuses = {
        active: sql`revoked_at is null and (expires_at is null or expires_at > ${now})`,
        revoked: sql`revoked_at is not null`,
        expired: sql`revoked_at is null and expires_at <= ${now}`,
      };
      return listWhere(tenantId, {}, page, { where: status && statuses[status] });
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
