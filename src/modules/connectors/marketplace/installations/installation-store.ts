import type { TenantId } from "../../../../platform/access/index.ts";
import { insertRowImages, type RowImage, readRowImages, type Sql } from "../../../../platform/db/index.ts";
import { recordTable } from "../../../../platform/records/index.ts";
import type { Permissions } from "../../../pack-records.ts";
import type {
  Installation,
  InstallationChange,
  InstallationHead,
  InstallationId,
  InstalledRecord,
  RecordHead,
  UpgradeImages,
} from "../domain/installation.ts";

/** A change to log. */
interface NewChange extends Omit<InstallationChange, "createdAt"> {
  readonly images?: UpgradeImages | undefined;
}

interface ListedInstallation extends InstallationHead {
  /** The permissions as the document declares them. */
  readonly permissions: Partial<Permissions> | null;
}

/** How many records an installation has at most. */
const recordsMax = 1000;

const installations = recordTable<InstallationHead, Pick<Installation, "document">>("marketplace_installations", {
  fixed: "tenant_id id publisher name kind created_at",
  mutable: "version digest slots change_id updated_at record_version",
  // A document can have a megabyte.
  internal: "document",
});

export function installationStore(sql: Sql) {
  const { columns, fullColumns, insert, update, findFull } = installations(sql);
  return {
    insert,
    update,
    find: findFull,

    findPack: (tenantId: TenantId, publisher: string, name: string) =>
      sql<Installation[]>`
        select ${fullColumns} from marketplace_installations
        where tenant_id = ${tenantId} and publisher = ${publisher} and name = ${name}`.first(),

    async count(tenantId: TenantId, kind = ""): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from marketplace_installations
        where tenant_id = ${tenantId} and (${kind} = '' or kind = ${kind})`;
      return row!.count;
    },

    /** Lists installations without their documents. */
    async list(tenantId: TenantId, kind: string, offset: number, limit: number): Promise<ListedInstallation[]> {
      return sql<ListedInstallation[]>`
        select ${columns}, document -> 'permissions' as permissions from marketplace_installations
        where tenant_id = ${tenantId} and (${kind} = '' or kind = ${kind})
        order by id offset ${offset} limit ${limit}`;
    },

    /** The other installations whose packs require a pack, with the range of versions that they accept. */
    async dependents(
      tenantId: TenantId,
      pack: string,
    ): Promise<{ readonly publisher: string; readonly name: string; readonly range: string }[]> {
      return sql`
        select i.publisher, i.name, r ->> 'version' as range
        from marketplace_installations i, json_array_elements(coalesce(i.document -> 'requires', '[]')) r
        where i.tenant_id = ${tenantId} and r ->> 'pack' = ${pack} order by 1, 2`;
    },

    /** The records of an installation, in the order of the pack. */
    async records(tenantId: TenantId, id: InstallationId): Promise<InstalledRecord[]> {
      return sql<InstalledRecord[]>`
        select key, kind, record_id, base from marketplace_installation_records
        where tenant_id = ${tenantId} and installation_id = ${id} order by position limit ${recordsMax}`;
    },

    /** The records of installations without what the pack wrote, in the order of each pack. */
    async recordHeads(tenantId: TenantId, ids: readonly InstallationId[]): Promise<Map<InstallationId, RecordHead[]>> {
      const rows = await sql<(RecordHead & { readonly installationId: InstallationId })[]>`
        select installation_id, key, kind, record_id from marketplace_installation_records
        where tenant_id = ${tenantId} and installation_id = any(${ids as InstallationId[]}) order by installation_id, position`;
      return Map.groupBy(rows, ({ installationId }) => installationId);
    },

    async replaceRecords(tenantId: TenantId, id: InstallationId, records: readonly InstalledRecord[]): Promise<void> {
      await sql`delete from marketplace_installation_records where tenant_id = ${tenantId} and installation_id = ${id}`;
      const rows = records.map(({ key, kind, recordId, base }, position) => ({
        ...{ tenant_id: tenantId, installation_id: id, key, position, kind, record_id: recordId },
        base: JSON.stringify(base),
      }));
      await sql`
        insert into marketplace_installation_records (tenant_id, installation_id, key, position, kind, record_id, base)
        select ${tenantId}, ${id}, key, position, kind, record_id, base::json
        from jsonb_to_recordset(${sql.json(rows as never)})
          as r(key text, position int, kind text, record_id text, base text)`;
    },

    async remove(tenantId: TenantId, id: InstallationId): Promise<void> {
      await sql`delete from marketplace_installation_records where tenant_id = ${tenantId} and installation_id = ${id}`;
      await sql`delete from marketplace_installations where tenant_id = ${tenantId} and id = ${id}`;
    },

    /** The rows of an installation and of its records. */
    async images(
      tenantId: TenantId,
      id: InstallationId,
    ): Promise<{ readonly installation: RowImage; readonly records: readonly RowImage[] }> {
      const own = sql`tenant_id = ${tenantId} and id = ${id}`;
      const [installation] = await readRowImages(sql, "marketplace_installations", own);
      const members = sql`tenant_id = ${tenantId} and installation_id = ${id}`;
      const records = await readRowImages(sql, "marketplace_installation_records", members, recordsMax);
      return { installation: installation!, records };
    },

    /** Replaces the rows of an installation and of its records by their images. */
    async restore(
      tenantId: TenantId,
      id: InstallationId,
      images: { readonly installation: RowImage; readonly records: readonly RowImage[] },
    ): Promise<void> {
      await this.remove(tenantId, id);
      await insertRowImages(sql, "marketplace_installations", [images.installation]);
      await insertRowImages(sql, "marketplace_installation_records", images.records);
    },

    async insertChange(
      tenantId: TenantId,
      installationId: InstallationId,
      { id, operation, fromVersion, toVersion, actor, images }: NewChange,
      now: Date,
    ): Promise<void> {
      await sql`
        insert into marketplace_installation_changes (tenant_id, id, installation_id, operation, from_version, to_version,
          actor, images, created_at)
        values (${tenantId}, ${id}, ${installationId}, ${operation}, ${fromVersion}, ${toVersion}, ${actor},
          ${images === undefined ? null : JSON.stringify(images)}::text::json, ${now})`;
    },

    /** The latest changes of an installation, newest first. */
    async changes(tenantId: TenantId, id: InstallationId, limit: number): Promise<InstallationChange[]> {
      return sql<InstallationChange[]>`
        select id, operation, from_version, to_version, actor, created_at from marketplace_installation_changes
        where tenant_id = ${tenantId} and installation_id = ${id} order by id desc limit ${limit}`;
    },

    /** Whether a change is an upgrade, which can be rolled back. */
    async isUpgrade(tenantId: TenantId, changeId: string): Promise<boolean> {
      const rows = await sql`
        select from marketplace_installation_changes
        where tenant_id = ${tenantId} and id = ${changeId} and operation = 'upgrade'`;
      return rows.length === 1;
    },

    /** The images of an upgrade; undefined if the change is none. */
    async upgradeImages(tenantId: TenantId, changeId: string): Promise<UpgradeImages | undefined> {
      const [row] = await sql<{ images: UpgradeImages | null }[]>`
        select images from marketplace_installation_changes where tenant_id = ${tenantId} and id = ${changeId}`;
      return row?.images ?? undefined;
    },
  };
}
