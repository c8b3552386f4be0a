import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { JsonObject } from "../../../platform/document/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../platform/paging/index.ts";

/** The id of a version of a manifest. */
export type ManifestId = string & { readonly __id: "connector_manifest" };

/** A version of a tenant's manifest, without its document. */
export interface ManifestHead {
  readonly tenantId: TenantId;
  readonly id: ManifestId;
  readonly key: string;
  readonly version: string;
  readonly name: string;
  readonly digest: string;
  readonly source: "tenant" | "pack";
  /** Empty for the tenant's own. */
  readonly packId: string;
  readonly createdAt: Date;
}

/** A version with its document. */
export interface Manifest extends ManifestHead {
  readonly document: JsonObject;
}

export function manifestStore(sql: Sql) {
  const columns = sql`tenant_id, id, key, version, name, digest, source, pack_id, created_at`;
  return {
    async insert(manifest: Manifest): Promise<void> {
      await sql`
        insert into connector_manifests (tenant_id, id, key, version, name, digest, source, pack_id, document, created_at)
        values (${manifest.tenantId}, ${manifest.id}, ${manifest.key}, ${manifest.version}, ${manifest.name},
          ${manifest.digest}, ${manifest.source}, ${manifest.packId}, ${JSON.stringify(manifest.document)}::text::json,
          ${manifest.createdAt})`;
    },

    find: (tenantId: TenantId, id: string) =>
      sql<Manifest[]>`
        select ${columns}, document from connector_manifests where tenant_id = ${tenantId} and id = ${id}`.first(),

    findVersion: (tenantId: TenantId, key: string, version: string) =>
      sql<Manifest[]>`
        select ${columns}, document from connector_manifests
        where tenant_id = ${tenantId} and key = ${key} and version = ${version}`.first(),

    /** All versions of a tenant. Their number is limited. */
    async listHeads(tenantId: TenantId): Promise<ManifestHead[]> {
      return sql<ManifestHead[]>`select ${columns} from connector_manifests where tenant_id = ${tenantId}`;
    },

    async findDocuments(tenantId: TenantId, ids: readonly string[]): Promise<ReadonlyMap<string, JsonObject>> {
      const rows = await sql<{ id: string; document: JsonObject }[]>`
        select id, document from connector_manifests where tenant_id = ${tenantId} and id = any(${ids as string[]})`;
      return new Map(rows.map(({ id, document }) => [id, document]));
    },

    async list(tenantId: TenantId, key: string | undefined, page: Page): Promise<PageRows<ManifestHead>> {
      const where = sql`tenant_id = ${tenantId} ${key === undefined ? sql`` : sql`and key = ${key}`}`;
      return readKeyset<ManifestHead>(sql, { columns, table: "connector_manifests", where }, page);
    },

    async delete(tenantId: TenantId, id: string): Promise<void> {
      await sql`delete from connector_manifests where tenant_id = ${tenantId} and id = ${id}`;
    },
  };
}
