import type { TenantId } from "../../../platform/access/index.ts";
import { type Reencryptable, sealedTable } from "../../../platform/crypto/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../platform/paging/index.ts";
import {
  bindingOf,
  type ProviderConfig,
  type ProviderConfigChange,
  type ProviderConfigStatus,
  type SealedProviderConfig,
} from "./domain/provider-config.ts";

export interface ProviderConfigFilter {
  readonly providerKey: string | undefined;
  readonly status: string | undefined;
  readonly environmentId: string | undefined;
  /** Only production, or only other environments; undefined for all. */
  readonly inProduction: boolean | undefined;
}

/** A change of a provider config. Undefined fields stay unchanged. */
export interface StoredChange extends Omit<ProviderConfigChange, "secrets"> {
  readonly sealed?: Pick<SealedProviderConfig, "secretNames" | "ciphertext" | "keyId"> | undefined;
  readonly status?: ProviderConfigStatus | undefined;
  readonly activatedAt?: Date | undefined;
}

/** The SQL queries of provider configs. Only queries that need ciphertexts read them. */
export function providerConfigStore(sql: Sql) {
  const columns = sql`
    tenant_id, id, environment_id, environment_key, provider_key, name, status, client_id, scopes, settings,
    manifest_version, secret_names, activated_at, created_at, updated_at, record_version`;
  return {
    async insert(config: SealedProviderConfig): Promise<ProviderConfig> {
      const [row] = await sql<ProviderConfig[]>`
        insert into connector_provider_configs (tenant_id, id, environment_id, environment_key, provider_key, name, status,
          client_id, scopes, settings, manifest_version, secret_names, ciphertext, key_id, created_at, updated_at)
        values (${config.tenantId}, ${config.id}, ${config.environmentId}, ${config.environmentKey},
          ${config.providerKey}, ${config.name}, ${config.status}, ${config.clientId}, ${config.scopes as string[]},
          ${sql.json(config.settings as never)}, ${config.manifestVersion}, ${config.secretNames as string[]},
          ${config.ciphertext}, ${config.keyId}, ${config.createdAt}, ${config.updatedAt})
        returning ${columns}`;
      return row!;
    },

    /** Whether a tenant has at least this many configs that are not archived. */
    async hasAtLeast(tenantId: TenantId, count: number): Promise<boolean> {
      const rows = await sql`
        select from connector_provider_configs where tenant_id = ${tenantId} and status <> 'archived'
        offset ${count - 1} limit 1`;
      return rows.length > 0;
    },

    async find(tenantId: TenantId, id: string): Promise<ProviderConfig | undefined> {
      const [row] = await sql<ProviderConfig[]>`
        select ${columns} from connector_provider_configs where tenant_id = ${tenantId} and id = ${id}`;
      return row;
    },

    async findSealed(tenantId: TenantId, id: string): Promise<SealedProviderConfig | undefined> {
      const [row] = await sql<SealedProviderConfig[]>`
        select ${columns}, ciphertext, key_id from connector_provider_configs
        where tenant_id = ${tenantId} and id = ${id}`;
      return row;
    },

    /** Finds a config and keeps it from being changed until the transaction ends. */
    async hold(tenantId: TenantId, id: string): Promise<ProviderConfig | undefined> {
      const [row] = await sql<ProviderConfig[]>`
        select ${columns} from connector_provider_configs where tenant_id = ${tenantId} and id = ${id} for share`;
      return row;
    },

    /** Finds a config with its secrets and locks it until the transaction ends. */
    async lock(tenantId: TenantId, id: string): Promise<SealedProviderConfig | undefined> {
      const [row] = await sql<SealedProviderConfig[]>`
        select ${columns}, ciphertext, key_id from connector_provider_configs
        where tenant_id = ${tenantId} and id = ${id} for update`;
      return row;
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
    async findLastActivated(
      tenantId: TenantId,
      providerKey: string,
      environmentId: string,
    ): Promise<ProviderConfig | undefined> {
      const [row] = await sql<ProviderConfig[]>`
        select ${columns} from connector_provider_configs
        where tenant_id = ${tenantId} and provider_key = ${providerKey} and status = 'active'
          and environment_id = ${environmentId}
        order by activated_at desc, id desc limit 1`;
      return row;
    },

    async update(
      tenantId: TenantId,
      id: string,
      change: StoredChange,
      expectedVersion: number | undefined,
      now: Date,
    ): Promise<ProviderConfig | undefined> {
      const { name, clientId, scopes, settings, manifestVersion, sealed, status, activatedAt } = change;
      const [row] = await sql<ProviderConfig[]>`
        update connector_provider_configs set
          name = ${name === undefined ? sql`name` : name},
          client_id = ${clientId === undefined ? sql`client_id` : clientId},
          scopes = ${scopes === undefined ? sql`scopes` : (scopes as string[])},
          settings = ${settings === undefined ? sql`settings` : sql.json(settings as never)},
          manifest_version = ${manifestVersion === undefined ? sql`manifest_version` : manifestVersion},
          secret_names = ${sealed === undefined ? sql`secret_names` : (sealed.secretNames as string[])},
          ciphertext = ${sealed === undefined ? sql`ciphertext` : sealed.ciphertext},
          key_id = ${sealed === undefined ? sql`key_id` : sealed.keyId},
          status = ${status === undefined ? sql`status` : status},
          activated_at = ${activatedAt === undefined ? sql`activated_at` : activatedAt},
          updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${tenantId} and id = ${id}
          ${expectedVersion === undefined ? sql`` : sql`and record_version = ${expectedVersion}`}
        returning ${columns}`;
      return row;
    },

    /** Finds the remaining use of a config's secrets: its connections, or the revocation of their grants at the provider. */
    async findUse(tenantId: TenantId, id: string): Promise<"connections" | "revocations" | undefined> {
      const [row] = await sql<{ isRevoked: boolean }[]>`
        select status = 'revoked' as is_revoked from connector_connections
        where tenant_id = ${tenantId} and provider_config_id = ${id} and provider_config_id <> ''
          and (status <> 'revoked' or provider_revocation = 'pending')
        order by is_revoked limit 1`;
      return row && (row.isRevoked ? "revocations" : "connections");
    },

    async list(tenantId: TenantId, filter: ProviderConfigFilter, page: Page): Promise<PageRows<ProviderConfig>> {
      const { providerKey, status, environmentId, inProduction } = filter;
      const where = sql`tenant_id = ${tenantId}
        ${providerKey === undefined ? sql`` : sql`and provider_key = ${providerKey}`}
        ${status === undefined ? sql`` : sql`and status = ${status}`}
        ${environmentId === undefined ? sql`` : sql`and environment_id = ${environmentId}`}
        ${inProduction === undefined ? sql`` : sql`and (environment_key = 'production') = ${inProduction}`}`;
      return readKeyset<ProviderConfig>(sql, { columns, table: "connector_provider_configs", where }, page);
    },
  };
}

/** The secrets of all tenants' provider configs, for re-encryption. */
export function reencryptableProviderConfigs(sql: Sql): Reencryptable {
  return sealedTable(sql, "connector_provider_configs", bindingOf);
}
