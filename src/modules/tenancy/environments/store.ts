import { type EnvironmentMode, productionKey, type TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../platform/paging/index.ts";
import type { Environment, EnvironmentChange } from "./domain/environment.ts";

/** The SQL queries of environments. The row of a deleted environment stays, and no query returns it. */
export function environmentStore(sql: Sql) {
  const columns = sql`tenant_id, id, key, name, mode, status, created_at, updated_at, record_version`;
  return {
    async insert(environments: readonly Environment[]): Promise<Environment[]> {
      const rows = environments.map((environment) => ({
        tenant_id: environment.tenantId,
        id: environment.id,
        key: environment.key,
        name: environment.name,
        mode: environment.mode,
        status: environment.status,
        created_at: environment.createdAt,
        updated_at: environment.updatedAt,
      }));
      return sql<Environment[]>`insert into environments ${sql(rows)} returning ${columns}`;
    },

    async find(tenantId: TenantId, idOrKey: string): Promise<Environment | undefined> {
      const [row] = await sql<Environment[]>`
        select ${columns} from environments
        where tenant_id = ${tenantId} and (id = ${idOrKey} or key = ${idOrKey}) and status <> 'deleted'`;
      return row;
    },

    /** Undefined fields stay unchanged; `expectedVersion`, if given, must be the current version. */
    async update(
      tenantId: TenantId,
      id: string,
      change: EnvironmentChange,
      expectedVersion: number | undefined,
      now: Date,
    ): Promise<Environment | undefined> {
      const [row] = await sql<Environment[]>`
        update environments set
          name = coalesce(${change.name ?? null}, name),
          status = coalesce(${change.status ?? null}, status),
          updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${tenantId} and id = ${id} and status <> 'deleted'
          and record_version = coalesce(${expectedVersion ?? null}::int, record_version)
        returning ${columns}`;
      return row;
    },

    async list(tenantId: TenantId, mode: EnvironmentMode, page: Page): Promise<PageRows<Environment>> {
      const usable = {
        any: sql``,
        production_only: sql`and key = ${productionKey}`,
        non_production_only: sql`and key <> ${productionKey}`,
      }[mode];
      const where = sql`tenant_id = ${tenantId} and status <> 'deleted' ${usable}`;
      return readKeyset<Environment>(sql, { columns, table: "environments", where }, page);
    },
  };
}
