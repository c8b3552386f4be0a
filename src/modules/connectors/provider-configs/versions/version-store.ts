import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../../platform/paging/index.ts";

export interface ProviderConfigVersion {
  readonly tenantId: TenantId;
  readonly configId: string;
  readonly version: number;
  /** As canonical JSON. */
  readonly content: string;
  readonly digest: string;
  /** change: captured from a change of the config. staged: stored for a later activation. */
  readonly origin: "change" | "staged";
  readonly message: string;
  readonly createdBy: string;
  readonly createdAt: Date;
}

/** The version and the digest that a provider config has. */
export type ActiveVersion = Pick<ProviderConfigVersion, "version" | "digest">;

export function configVersionStore(sql: Sql) {
  const columns = sql`tenant_id, config_id, version, content, digest, origin, message, created_by, created_at`;
  const table = "connector_provider_config_versions";
  return {
    async insert(version: Omit<ProviderConfigVersion, "version">): Promise<ProviderConfigVersion> {
      const { tenantId, configId, content, digest, origin, message, createdBy, createdAt } = version;
      const [row] = await sql<ProviderConfigVersion[]>`
        insert into connector_provider_config_versions (tenant_id, config_id, version, content, digest, origin, message,
          created_by, created_at)
        select ${tenantId}, ${configId}, coalesce(max(version), 0) + 1, ${content}, ${digest}, ${origin}, ${message},
          ${createdBy}, ${createdAt}
        from connector_provider_config_versions where tenant_id = ${tenantId} and config_id = ${configId}
        returning ${columns}`;
      return row!;
    },

    find: (tenantId: TenantId, configId: string, version: number) =>
      sql<ProviderConfigVersion[]>`
        select ${columns} from connector_provider_config_versions
        where tenant_id = ${tenantId} and config_id = ${configId} and version = ${version}`.first(),

    /** The newest version with a content. */
    findByDigest: (tenantId: TenantId, configId: string, digest: string) =>
      sql<ActiveVersion[]>`
        select version, digest from connector_provider_config_versions
        where tenant_id = ${tenantId} and config_id = ${configId} and digest = ${digest}
        order by version desc limit 1`.first(),

    findActive: (tenantId: TenantId, configId: string) =>
      sql<ActiveVersion[]>`
        select version, digest from connector_provider_config_active_versions
        where tenant_id = ${tenantId} and config_id = ${configId}`.first(),

    async setActive(tenantId: TenantId, configId: string, { version, digest }: ActiveVersion): Promise<void> {
      await sql`
        insert into connector_provider_config_active_versions (tenant_id, config_id, version, digest)
        values (${tenantId}, ${configId}, ${version}, ${digest})
        on conflict (tenant_id, config_id) do update set version = excluded.version, digest = excluded.digest`;
    },

    async count(tenantId: TenantId, configId: string): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from connector_provider_config_versions
        where tenant_id = ${tenantId} and config_id = ${configId} and origin = 'staged'`;
      return row!.count;
    },

    async list(tenantId: TenantId, configId: string, page: Page): Promise<PageRows<ProviderConfigVersion>> {
      const where = sql`tenant_id = ${tenantId} and config_id = ${configId}`;
      return readKeyset<ProviderConfigVersion>(sql, { columns, table, where, key: "version", newestFirst: true }, page);
    },
  };
}
