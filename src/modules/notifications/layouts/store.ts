import type { TenantId } from "../../../platform/access/index.ts";
import { insertRowImages, type RowImage, type Sql } from "../../../platform/db/index.ts";
import type { Page } from "../../../platform/paging/index.ts";
import { recordTable } from "../../../platform/records/index.ts";
import type { LayoutChannel } from "./domain/channel.ts";
import type { Layout, LayoutDetails } from "./domain/layout.ts";

const layouts = recordTable<Layout>("notification_layouts", {
  fixed: "tenant_id id channel created_at",
  mutable: "name description engine body text_body is_default version variables metadata updated_at",
});

export function layoutStore(sql: Sql) {
  const { columns, insert, count, find, lock, remove, listWhere } = layouts(sql);
  return {
    insert,
    count,
    find,
    /** Locks a layout until the transaction ends; no workflow can start to use it meanwhile. */
    lockRow: lock,
    remove,

    /** The names of layouts that include a partial. */
    async namesWithPartial(tenantId: TenantId, pattern: string, limit: number): Promise<string[]> {
      const rows = await sql<{ name: string }[]>`
        select name from notification_layouts
        where tenant_id = ${tenantId} and (body ~ ${pattern} or text_body ~ ${pattern})
        order by name limit ${limit}`;
      return rows.map(({ name }) => name);
    },

    /** Finds a layout by its id, or by its name if only one channel has it. */
    async findNamed(tenantId: TenantId, idOrName: string): Promise<Layout | undefined> {
      const rows = await sql<Layout[]>`
        select ${columns} from notification_layouts
        where tenant_id = ${tenantId} and (id = ${idOrName} or name = ${idOrName})
        order by id = ${idOrName} desc limit 2`;
      return rows[0]?.id === idOrName || rows.length === 1 ? rows[0] : undefined;
    },

    /** Replaces the row of a layout by its image; undefined deletes it. */
    async replaceRow(tenantId: TenantId, id: string, image: RowImage | undefined): Promise<void> {
      await sql`delete from notification_layouts where tenant_id = ${tenantId} and id = ${id}`;
      if (image !== undefined) await insertRowImages(sql, "notification_layouts", [image]);
    },

    findDefault: (tenantId: TenantId, channel: LayoutChannel) =>
      sql<Layout[]>`
        select ${columns} from notification_layouts
        where tenant_id = ${tenantId} and channel = ${channel} and is_default`.first(),

    /** Replaces a layout's details; undefined when the version is not current. */
    update: (
      tenantId: TenantId,
      id: string,
      text: LayoutDetails & Pick<Layout, "variables">,
      version: number,
      now: Date,
    ) =>
      sql<Layout[]>`
        update notification_layouts set
          name = ${text.name}, description = ${text.description}, engine = ${text.engine}, body = ${text.body},
          text_body = ${text.textBody}, variables = ${text.variables as string[]},
          metadata = ${sql.json(text.metadata as never)}, version = version + 1, updated_at = ${now}
        where tenant_id = ${tenantId} and id = ${id} and version = ${version}
        returning ${columns}`.first(),

    /** Clears a channel's default; returns the id of the previous default, if any. */
    async clearDefault(tenantId: TenantId, channel: LayoutChannel, now: Date): Promise<string | undefined> {
      const [row] = await sql<{ id: string }[]>`
        update notification_layouts set is_default = false, updated_at = ${now}
        where tenant_id = ${tenantId} and channel = ${channel} and is_default returning id`;
      return row?.id;
    },

    setDefault: (tenantId: TenantId, id: string, now: Date) =>
      sql<Layout[]>`
        update notification_layouts set is_default = true, updated_at = ${now}
        where tenant_id = ${tenantId} and id = ${id} returning ${columns}`.first(),

    /** The names of a list that layouts of a channel already use. */
    async takenNames(tenantId: TenantId, channel: LayoutChannel, names: readonly string[]): Promise<Set<string>> {
      const rows = await sql<{ name: string }[]>`
        select name from notification_layouts
        where tenant_id = ${tenantId} and channel = ${channel} and name = any(${names as string[]})`;
      return new Set(rows.map(({ name }) => name));
    },

    list: (tenantId: TenantId, channel: LayoutChannel | undefined, page: Page) =>
      listWhere(tenantId, { channel }, page),
  };
}
