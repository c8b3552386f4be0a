import type { TenantId } from "../../../platform/access/index.ts";
import { type Reencryptable, sealedTable } from "../../../platform/crypto/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { recordTable } from "../../../platform/records/index.ts";
import { bindingOf, type ProviderConfig, type SealedProviderConfig } from "./domain/provider-config.ts";

/** The columns of secrets. */
type Sealed = Pick<SealedProviderConfig, "ciphertext" | "keyId">;

/** A change of a provider config. Undefined fields stay unchanged. */
export type StoredChange = Partial<SealedProviderConfig>;

const configs = recordTable<ProviderConfig, Sealed>("connector_provider_configs", {
  fixed: "tenant_id id environment_id environment_key provider_key created_at",
  mutable: `name status client_id scopes settings manifest_version secret_names activated_at updated_at record_version`,
  internal: "ciphertext key_id",
});

/** The SQL queries of provider configs. Only queries that need ciphertexts read them. */
export function providerConfigStore(sql: Sql) {
  const { columns, insert, find, findFull, hold, lockFull, update, listWhere } = configs(sql);
  return {
    insert,
    find,
    findSealed: findFull,
    hold,
    lock: lockFull,
    update,
    list: listWhere,

    /** Whether a tenant has at least this many configs that are not archived. */
    async hasAtLeast(tenantId: TenantId, count: number): Promise<boolean> {
      const rows = await sql`
        select from connector_provider_configs where tenant_id = ${tenantId} and status <> 'archived'
        offset ${count - 1} limit 1`;
      return rows.length > 0;
    },

    /** Whether a provider has configs that are not archived. */
    async hasProvider(tenantId: TenantId, providerKey: string): Promise<boolean> {
      const rows = await sql`
        select from connector_provider_configs
        where tenant_id = ${tenantId} and provider_key = ${providerKey} and status <> 'archived' limit 1`;
      return rows.length > 0;
    },

    /** Whether a config, or the canary of one, pins a version of a provider's manifest. */
    async pinsManifest(tenantId: TenantId, providerKey: string, manifestVersion: string): Promise<boolean> {
      const rows = await sql`
        select from connector_provider_configs p
        where tenant_id = ${tenantId} and provider_key = ${providerKey} and status <> 'archived'
          and (manifest_version = ${manifestVersion} or exists (
            select from canaries c join connector_provider_config_versions v
              on v.tenant_id = c.tenant_id and v.config_id = c.target_id and v.version = c.version
            where c.tenant_id = ${tenantId} and c.target_kind = 'provider_config' and c.target_id = p.id
              and v.content::json ->> 'manifest_version' = ${manifestVersion}))
        limit 1`;
      return rows.length > 0;
    },

    /** The best status of the configs of each provider. */
    async findStates(tenantId: TenantId): Promise<ReadonlyMap<string, "active" | "disabled">> {
      const rows = await sql<{ providerKey: string; status: "active" | "disabled" }[]>`
        select provider_key, min(status) as status from connector_provider_configs
        where tenant_id = ${tenantId} and status in ('active', 'disabled') group by provider_key`;
      return new Map(rows.map(({ providerKey, status }) => [providerKey, status]));
    },

    /** The active config of a provider that was activated last. */
    findLastActivated: (tenantId: TenantId, providerKey: string, environmentId: string) =>
      sql<ProviderConfig[]>`
        select ${columns} from connector_provider_configs
        where tenant_id = ${tenantId} and provider_key = ${providerKey} and status = 'active'
          and environment_id = ${environmentId}
        order by activated_at desc, id desc limit 1`.first(),

    /** Finds the remaining use of a config's secrets: its connections, or the revocation of their grants at the provider. */
    async findUse(tenantId: TenantId, id: string): Promise<"connections" | "revocations" | undefined> {
      const [row] = await sql<{ isRevoked: boolean }[]>`
        select status = 'revoked' as is_revoked from connector_connections
        where tenant_id = ${tenantId} and provider_config_id = ${id} and provider_config_id <> ''
          and (status <> 'revoked' or provider_revocation = 'pending')
        order by is_revoked limit 1`;
      return row && (row.isRevoked ? "revocations" : "connections");
    },
  };
}

/** The secrets of all tenants' provider configs, for re-encryption. */
export function reencryptableProviderConfigs(sql: Sql): Reencryptable {
  return sealedTable(sql, "connector_provider_configs", bindingOf);
}
