import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../platform/paging/index.ts";
import { type PartialContent, type PartialLink, partialsMax, type TemplatePartial } from "./domain/partial.ts";

/** The stored form of a partial's content. */
type StoredContent = PartialContent & Pick<TemplatePartial, "includes">;

export function partialStore(sql: Sql) {
  const columns = sql`
    tenant_id, key, description, engine, body, includes, created_at, updated_at, record_version`;
  return {
    async find(tenantId: TenantId, key: string): Promise<TemplatePartial | undefined> {
      const [row] = await sql<TemplatePartial[]>`
        select ${columns} from notification_partials where tenant_id = ${tenantId} and key = ${key}`;
      return row;
    },

    /** Locks a partial against those that start to include it. */
    async lock(tenantId: TenantId, key: string): Promise<TemplatePartial | undefined> {
      const [row] = await sql<TemplatePartial[]>`
        select ${columns} from notification_partials where tenant_id = ${tenantId} and key = ${key} for update`;
      return row;
    },

    async all(tenantId: TenantId): Promise<TemplatePartial[]> {
      return sql<TemplatePartial[]>`
        select ${columns} from notification_partials where tenant_id = ${tenantId} order by key limit ${partialsMax}`;
    },

    /** Which partials a tenant has, and what they include. */
    async links(tenantId: TenantId): Promise<PartialLink[]> {
      return sql<PartialLink[]>`
        select key, engine, includes from notification_partials where tenant_id = ${tenantId} limit ${partialsMax}`;
    },

    /** The names of partials in a language, which cannot be deleted until the transaction ends. */
    async hold(tenantId: TenantId, engine: string, keys: readonly string[]): Promise<ReadonlySet<string>> {
      const rows = await sql<{ key: string }[]>`
        select key from notification_partials
        where tenant_id = ${tenantId} and engine = ${engine} and key = any(${keys as string[]}::text[])
        order by key for key share`;
      return new Set(rows.map(({ key }) => key));
    },

    /** Creates a partial; undefined when its key is already used. */
    async insert(
      tenantId: TenantId,
      key: string,
      content: StoredContent,
      now: Date,
    ): Promise<TemplatePartial | undefined> {
      const [row] = await sql<TemplatePartial[]>`
        insert into notification_partials (tenant_id, key, description, engine, body, includes, created_at, updated_at)
        values (${tenantId}, ${key}, ${content.description}, ${content.engine}, ${content.body},
          ${content.includes as string[]}, ${now}, ${now})
        on conflict (tenant_id, key) do nothing
        returning ${columns}`;
      return row;
    },

    /** Replaces a partial; undefined when the expected version is not current. */
    async update(
      tenantId: TenantId,
      key: string,
      content: StoredContent,
      expectedVersion: number | undefined,
      now: Date,
    ): Promise<TemplatePartial | undefined> {
      const [row] = await sql<TemplatePartial[]>`
        update notification_partials set description = ${content.description}, engine = ${content.engine},
          body = ${content.body}, includes = ${content.includes as string[]}, updated_at = ${now},
          record_version = record_version + 1
        where tenant_id = ${tenantId} and key = ${key}
          and record_version = coalesce(${expectedVersion ?? null}::int, record_version)
        returning ${columns}`;
      return row;
    },

    async remove(tenantId: TenantId, key: string): Promise<void> {
      await sql`delete from notification_partials where tenant_id = ${tenantId} and key = ${key}`;
    },

    async list(tenantId: TenantId, page: Page): Promise<PageRows<TemplatePartial>> {
      const where = sql`tenant_id = ${tenantId}`;
      return readKeyset<TemplatePartial>(sql, { columns, table: "notification_partials", where, key: "key" }, page);
    },
  };
}
