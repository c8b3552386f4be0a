import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { Page } from "../../../platform/paging/index.ts";
import { recordTable } from "../../../platform/records/index.ts";
import { type Integration, integrationsMax } from "./domain/integration.ts";

const integrations = recordTable<Integration>("notification_integrations", {
  fixed: "tenant_id id channel created_at",
  mutable: `name provider_key connection_id priority active condition casing_override metadata updated_at record_version`,
  exists: "removed_at is null",
});

/** SQL queries for integrations. A deleted one keeps its row but is never found again, and its name becomes free. */
export function integrationStore(sql: Sql) {
  const { columns, insert, count, find, update, set, listWhere } = integrations(sql);
  return {
    insert,
    count,
    find,
    update,

    /** Finds an integration if its tenant is active. */
    findOfActiveTenant: (tenantId: TenantId, id: string) =>
      sql<Integration[]>`
        select ${columns} from notification_integrations
        where tenant_id = ${tenantId} and id = ${id} and removed_at is null
          and exists (select from tenants where tenants.id = ${tenantId} and tenants.status = 'active')`.first(),

    remove: (tenantId: TenantId, id: string, now: Date) =>
      set(tenantId, id, now, sql`removed_at = ${now}, active = false`),

    /** All integrations of a tenant, active or not. */
    async all(tenantId: TenantId): Promise<Integration[]> {
      return sql<Integration[]>`
        select ${columns} from notification_integrations
        where tenant_id = ${tenantId} and removed_at is null order by id limit ${integrationsMax}`;
    },

    list: (tenantId: TenantId, channel: string | undefined, page: Page) => listWhere(tenantId, { channel }, page),
  };
}
