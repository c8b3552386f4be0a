import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../platform/paging/index.ts";
import { removedQuotas, type Tenant, type TenantChange, type TenantStatus } from "./domain/tenant.ts";

export interface TenantFilter {
  /** Only this tenant; undefined for all. */
  readonly only: TenantId | undefined;
  readonly status: TenantStatus | undefined;
}

type TenantStateRow = Pick<Tenant, "status" | "platform" | "quotas" | "settings">;

export function tenantStore(sql: Sql) {
  const columns = sql`id, name, slug, status, plan, settings, quotas, platform, created_at, updated_at, record_version`;
  return {
    async insert(tenant: Tenant): Promise<Tenant> {
      const [row] = await sql<Tenant[]>`
        insert into tenants (id, name, slug, status, plan, settings, quotas, platform, created_at, updated_at)
        values (${tenant.id}, ${tenant.name}, ${tenant.slug}, ${tenant.status}, ${tenant.plan},
          ${sql.json(tenant.settings as never)}, ${sql.json(tenant.quotas as never)}, ${tenant.platform},
          ${tenant.createdAt}, ${tenant.updatedAt})
        returning ${columns}`;
      return row!;
    },

    find: (tenantId: TenantId) => sql<Tenant[]>`select ${columns} from tenants where id = ${tenantId}`.first(),

    findPlatform: () => sql<Tenant[]>`select ${columns} from tenants where platform`.first(),

    /** Undefined fields stay unchanged; `expectedVersion`, if given, must be the current version. */
    update: (tenantId: TenantId, change: TenantChange, expectedVersion: number | undefined, now: Date) =>
      sql<Tenant[]>`
        update tenants set
          name = coalesce(${change.name ?? null}, name),
          plan = coalesce(${change.plan ?? null}, plan),
          status = coalesce(${change.status ?? null}, status),
          settings = coalesce(${change.settings === undefined ? null : sql.json(change.settings as never)}::jsonb, settings),
          quotas = (quotas || ${sql.json((change.quotas ?? {}) as never)}::jsonb) - ${removedQuotas(change.quotas ?? {})}::text[],
          updated_at = ${now}, record_version = record_version + 1
        where id = ${tenantId} and status <> 'deleted'
          and record_version = coalesce(${expectedVersion ?? null}::int, record_version)
        returning ${columns}`.first(),

    markDeleted: (tenantId: TenantId, now: Date) =>
      sql<Tenant[]>`
        update tenants set status = 'deleted', deleted_at = ${now}, updated_at = ${now}, record_version = record_version + 1
        where id = ${tenantId} and status <> 'deleted'
        returning ${columns}`.first(),

    async list({ only, status }: TenantFilter, page: Page): Promise<PageRows<Tenant>> {
      const where = sql`
        (${only ?? null}::text is null or id = ${only ?? null}) and (${status ?? null}::text is null or status = ${status ?? null})`;
      return readKeyset<Tenant>(sql, { columns, table: "tenants", where }, page);
    },

    /** Reads everything that the chain needs on every call, in one query. */
    readState: (tenantId: TenantId) =>
      sql<TenantStateRow[]>`
        select status, platform, quotas,
          coalesce((select jsonb_object_agg(key, value) from config_values where tenant_id = tenants.id), '{}') as settings
        from tenants where id = ${tenantId}`.first(),
  };
}
