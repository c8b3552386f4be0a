import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../platform/paging/index.ts";
import { type Integration, type IntegrationDetails, integrationsMax } from "./domain/integration.ts";

/** SQL queries for integrations. A deleted one keeps its row but is never found again, and its name becomes free. */
export function integrationStore(sql: Sql) {
  const columns = sql`
    tenant_id, id, channel, name, provider_key, connection_id, priority, active, condition, casing_override, metadata,
    created_at, updated_at, record_version`;
  return {
    async insert(integration: Integration): Promise<Integration> {
      const [row] = await sql<Integration[]>`
        insert into notification_integrations (tenant_id, id, channel, name, provider_key, connection_id, priority,
          active, condition, casing_override, metadata, created_at, updated_at)
        values (${integration.tenantId}, ${integration.id}, ${integration.channel}, ${integration.name},
          ${integration.providerKey}, ${integration.connectionId}, ${integration.priority}, ${integration.active},
          ${integration.condition}, ${integration.casingOverride}, ${sql.json(integration.metadata as never)},
          ${integration.createdAt}, ${integration.updatedAt})
        returning ${columns}`;
      return row!;
    },

    async count(tenantId: TenantId): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from notification_integrations
        where tenant_id = ${tenantId} and removed_at is null`;
      return row!.count;
    },

    async find(tenantId: TenantId, id: string): Promise<Integration | undefined> {
      const [row] = await sql<Integration[]>`
        select ${columns} from notification_integrations
        where tenant_id = ${tenantId} and id = ${id} and removed_at is null`;
      return row;
    },

    /** Finds an integration if its tenant is active. */
    async findOfActiveTenant(tenantId: TenantId, id: string): Promise<Integration | undefined> {
      const [row] = await sql<Integration[]>`
        select ${columns} from notification_integrations
        where tenant_id = ${tenantId} and id = ${id} and removed_at is null
          and exists (select from tenants where tenants.id = ${tenantId} and tenants.status = 'active')`;
      return row;
    },

    /** Replaces an integration's details; undefined when the expected version is not current. */
    async update(
      tenantId: TenantId,
      id: string,
      details: IntegrationDetails,
      expectedVersion: number | undefined,
      now: Date,
    ): Promise<Integration | undefined> {
      const [row] = await sql<Integration[]>`
        update notification_integrations set
          name = ${details.name}, provider_key = ${details.providerKey}, connection_id = ${details.connectionId},
          priority = ${details.priority}, active = ${details.active}, condition = ${details.condition},
          casing_override = ${details.casingOverride}, metadata = ${sql.json(details.metadata as never)},
          updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${tenantId} and id = ${id} and removed_at is null
          and record_version = coalesce(${expectedVersion ?? null}::int, record_version)
        returning ${columns}`;
      return row;
    },

    async remove(tenantId: TenantId, id: string, now: Date): Promise<Integration | undefined> {
      const [row] = await sql<Integration[]>`
        update notification_integrations
        set removed_at = ${now}, active = false, updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${tenantId} and id = ${id} and removed_at is null
        returning ${columns}`;
      return row;
    },

    /** All integrations of a tenant, active or not. */
    async all(tenantId: TenantId): Promise<Integration[]> {
      return sql<Integration[]>`
        select ${columns} from notification_integrations
        where tenant_id = ${tenantId} and removed_at is null order by id limit ${integrationsMax}`;
    },

    async list(tenantId: TenantId, channel: string | undefined, page: Page): Promise<PageRows<Integration>> {
      const where = sql`tenant_id = ${tenantId} and removed_at is null
        ${channel === undefined ? sql`` : sql`and channel = ${channel}`}`;
      return readKeyset<Integration>(sql, { columns, table: "notification_integrations", where }, page);
    },
  };
}
