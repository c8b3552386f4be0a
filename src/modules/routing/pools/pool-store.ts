import type { EnvironmentMode, Principal, TenantId } from "../../../platform/access/index.ts";
import type { Fragment, Sql } from "../../../platform/db/index.ts";
import { type Page, readKeyset } from "../../../platform/paging/index.ts";
import { recordTable } from "../../../platform/records/index.ts";
import { effectiveConfig, type PoolSettings } from "./domain/config-settings.ts";
import type { NewPool, PoolChange, PoolId, PoolMembers, PoolStatus, StoredPool } from "./domain/pool.ts";
import { ofEnvironment } from "./environment-filter.ts";

/** Maximum number of member ids returned for a single pool, and for each pool of a list. */
const idsPerPool = 1000;
const idsPerListedPool = 50;

export interface PoolFilter {
  readonly environmentMode: EnvironmentMode;
  /** Undefined selects all pools that are not archived. */
  readonly status: PoolStatus | undefined;
  /** Empty selects all environments. */
  readonly environmentId: string;
}

type Row = Omit<StoredPool, "config">;
type ListedRow = Row & PoolMembers;

type NewRow = Pick<StoredPool, "tenantId" | "id" | "createdAt" | "updatedAt"> &
  Omit<NewPool, "settings"> &
  StoredConfig;

interface StoredConfig {
  readonly config: PoolSettings;
}

const pools = recordTable<Row, StoredConfig, NewRow>("pools", {
  fixed: "tenant_id id environment_id revision created_at",
  mutable: "name description strategy status updated_at record_version",
  internal: "config",
  computed: (sql) => {
    const environmentField = (field: string) => sql`
      (select ${sql(field)} from environments e where e.tenant_id = pools.tenant_id and e.id = pools.environment_id)`;
    return sql`config as settings, ${environmentField("key")} as environment_key,
      ${environmentField("mode")} as environment_mode`;
  },
});

/** SQL queries for pools. An archived pool keeps its row but releases its name. */
export function poolStore(sql: Sql) {
  const { columns, insert, find, update } = pools(sql);
  const recipientsOf = sql`
    from recipients r where r.tenant_id = pools.tenant_id and r.pool_id = pools.id and r.status <> 'removed'`;
  const rulesOf = sql`from rules r where r.tenant_id = pools.tenant_id and r.pool_id = pools.id`;
  const members = (idsMax: number) => sql`
    array(select r.id::text ${recipientsOf} order by r.id limit ${idsMax}) as recipient_ids,
    array(select r.id::text ${rulesOf} order by r.id limit ${idsMax}) as rule_ids,
    (select count(*)::int ${recipientsOf}) as recipient_count, (select count(*)::int ${rulesOf}) as rule_count`;
  const one = (row: Row | undefined) => row && toPool(row);
  return {
    async insert(pool: NewPool & { tenantId: TenantId; id: PoolId }, now: Date): Promise<StoredPool> {
      return toPool(await insert({ ...pool, config: pool.settings, createdAt: now, updatedAt: now }));
    },

    find: async (tenantId: TenantId, id: string) => one(await find(tenantId, id)),

    /** Finds a pool that is not archived by its id, or by its name if only one pool has it. */
    async findNamed(tenantId: TenantId, idOrName: string): Promise<StoredPool | undefined> {
      const rows = await sql<Row[]>`
        select ${columns} from pools
        where tenant_id = ${tenantId} and status <> 'archived' and (id = ${idOrName} or name = ${idOrName})
        order by id = ${idOrName} desc limit 2`;
      return rows[0]?.id === idOrName || rows.length === 1 ? one(rows[0]) : undefined;
    },

    /** Lists pools that are not archived, ordered by id. */
    async findMany(tenantId: TenantId, ids: readonly PoolId[]): Promise<StoredPool[]> {
      const rows = await sql<Row[]>`
        select ${columns} from pools
        where tenant_id = ${tenantId} and id = any(${ids as PoolId[]}::text[]) and status <> 'archived' order by id`;
      return rows.map(toPool);
    },

    /** Locks a pool until the transaction ends. */
    async lock(tenantId: TenantId, id: string): Promise<void> {
      await sql`select from pools where tenant_id = ${tenantId} and id = ${id} for update`;
    },

    /** Increments the revision and locks the pool; concurrent changes wait for the commit. */
    raiseRevision: async (tenantId: TenantId, id: string) =>
      one(
        await sql<Row[]>`
          update pools set revision = revision + 1
          where tenant_id = ${tenantId} and id = ${id} returning ${columns}`.first(),
      ),

    /** Updates the fields that are defined. A given version must match the current one. */
    update: async (
      tenantId: TenantId,
      id: PoolId,
      { settings, ...fields }: Omit<PoolChange, "resetConfig">,
      expectedVersion: number | undefined,
      now: Date,
    ) => one(await update(tenantId, id, { ...fields, config: settings }, expectedVersion, now)),

    async membersOf(tenantId: TenantId, id: PoolId): Promise<PoolMembers> {
      const [row] = await sql<PoolMembers[]>`
        select ${members(idsPerPool)} from pools where tenant_id = ${tenantId} and id = ${id}`;
      return row!;
    },

    async list(tenantId: TenantId, { environmentMode, status, environmentId }: PoolFilter, page: Page) {
      const where = sql`${usablePools(sql, tenantId, { environmentMode }, environmentId)}
        and ${status === undefined ? sql`status <> 'archived'` : sql`status = ${status}`}`;
      const selection = { columns: sql`${columns}, ${members(idsPerListedPool)}`, table: "pools", where };
      const { rows, ...rest } = await readKeyset<ListedRow>(sql, selection, page);
      return { ...rest, rows: rows.map(toPool) };
    },
  };
}

/**
 * SQL condition on `pools`: the pools of the environments that a caller may use, or only those of the one that a filter names by its
 * id or key.
 */
export function usablePools(
  sql: Sql,
  tenantId: TenantId,
  { environmentMode }: Pick<Principal, "environmentMode">,
  environment = "",
): Fragment {
  const production = sql`(select id from environments where tenant_id = ${tenantId} and key = 'production')`;
  const inEnvironment = {
    any: sql``,
    production_only: sql`and environment_id in ${production}`,
    non_production_only: sql`and environment_id not in ${production}`,
  }[environmentMode];
  return sql`tenant_id = ${tenantId} ${inEnvironment} and ${ofEnvironment(sql, tenantId, environment)}`;
}

/** SQL condition on a table with a `pool_id`: the rows of those pools; undefined if these are all. */
export function inUsablePools(
  sql: Sql,
  tenantId: TenantId,
  principal: Pick<Principal, "environmentMode">,
  environment = "",
): Fragment | undefined {
  if (principal.environmentMode === "any" && environment === "") return undefined;
  return sql`pool_id in (select id from pools where ${usablePools(sql, tenantId, principal, environment)})`;
}

function toPool<R extends { settings: PoolSettings; strategy: StoredPool["strategy"] }>(row: R) {
  return { ...row, config: effectiveConfig(row.settings, row.strategy) };
}

/** Finds which of these names and ids belong to pools of any environment that are not archived. */
export async function findPools(sql: Sql, tenantId: TenantId, namesOrIds: readonly string[]) {
  const rows = await sql<{ id: string; name: string }[]>`
    select id, name from pools
    where tenant_id = ${tenantId} and status <> 'archived'
      and (name = any(${namesOrIds as string[]}) or id = any(${namesOrIds as string[]}))`;
  return new Set(rows.flatMap(({ id, name }) => [id, name]));
}

/** Finds a pool of an environment that is not archived, by its name or id; undefined if there is none. */
export async function findPoolId(sql: Sql, tenantId: TenantId, environmentId: string, nameOrId: string) {
  const [row] = await sql<{ id: string }[]>`
    select id from pools
    where tenant_id = ${tenantId} and environment_id = ${environmentId} and status <> 'archived'
      and (name = ${nameOrId} or id = ${nameOrId})
    order by id = ${nameOrId} desc limit 1`;
  return row?.id;
}
