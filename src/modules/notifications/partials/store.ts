import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { recordTable } from "../../../platform/records/index.ts";
import { type PartialLink, partialsMax, type TemplatePartial } from "./domain/partial.ts";

const partials = recordTable<TemplatePartial>("notification_partials", {
  key: "key",
  fixed: "tenant_id key created_at",
  mutable: "description engine body includes updated_at record_version",
});

export function partialStore(sql: Sql) {
  const { columns, ...records } = partials(sql);
  return {
    ...records,

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
  };
}
