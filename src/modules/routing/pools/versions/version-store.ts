import type { TenantId } from "../../../../platform/access/index.ts";
import { recordRows, type Sql } from "../../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../../platform/paging/index.ts";
import type { PoolId } from "../domain/pool.ts";
import type { ContentRule, PoolContent } from "../domain/pool-content.ts";
import { poolStore } from "../pool-store.ts";
import { ruleStore } from "../rules/rule-store.ts";

/** A version without its content. */
export interface PoolVersion {
  readonly tenantId: TenantId;
  readonly poolId: PoolId;
  readonly version: number;
  readonly digest: string;
  /** change: captured from a change of the pool. staged: stored for a later activation. */
  readonly origin: "change" | "staged";
  readonly message: string;
  readonly createdBy: string;
  readonly createdAt: Date;
}

/** A version with its content as canonical JSON. */
export interface StoredPoolVersion extends PoolVersion {
  readonly content: string;
}

export type ActiveVersion = Pick<PoolVersion, "version" | "digest">;

export function versionStore(sql: Sql) {
  const columns = sql`tenant_id, pool_id, version, digest, origin, message, created_by, created_at`;
  return {
    async insert(version: Omit<StoredPoolVersion, "version">): Promise<StoredPoolVersion> {
      const { tenantId, poolId, digest, content, origin, message, createdBy, createdAt } = version;
      const [row] = await sql<StoredPoolVersion[]>`
        insert into pool_versions (tenant_id, pool_id, version, content, digest, origin, message, created_by, created_at)
        select ${tenantId}, ${poolId}, coalesce(max(version), 0) + 1, ${content}, ${digest}, ${origin}, ${message},
          ${createdBy}, ${createdAt}
        from pool_versions where tenant_id = ${tenantId} and pool_id = ${poolId}
        returning ${columns}, content`;
      return row!;
    },

    find: (tenantId: TenantId, poolId: string, version: number) =>
      sql<StoredPoolVersion[]>`
        select ${columns}, content from pool_versions
        where tenant_id = ${tenantId} and pool_id = ${poolId} and version = ${version}`.first(),

    /** The newest version with a content. */
    findByDigest: (tenantId: TenantId, poolId: string, digest: string) =>
      sql<PoolVersion[]>`
        select ${columns} from pool_versions
        where tenant_id = ${tenantId} and pool_id = ${poolId} and digest = ${digest} order by version desc limit 1`.first(),

    findActive: (tenantId: TenantId, poolId: string) =>
      sql<ActiveVersion[]>`
        select version, digest from pool_active_versions where tenant_id = ${tenantId} and pool_id = ${poolId}`.first(),

    async setActive(tenantId: TenantId, poolId: string, { version, digest }: ActiveVersion): Promise<void> {
      await sql`
        insert into pool_active_versions (tenant_id, pool_id, version, digest)
        values (${tenantId}, ${poolId}, ${version}, ${digest})
        on conflict (tenant_id, pool_id) do update set version = excluded.version, digest = excluded.digest`;
    },

    async list(tenantId: TenantId, poolId: string, page: Page): Promise<PageRows<PoolVersion>> {
      const where = sql`tenant_id = ${tenantId} and pool_id = ${poolId}`;
      const selection = { columns, table: "pool_versions", where, key: "version", newestFirst: true };
      return readKeyset<PoolVersion>(sql, selection, page);
    },

    async countStaged(tenantId: TenantId, poolId: string): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from pool_versions
        where tenant_id = ${tenantId} and pool_id = ${poolId} and origin = 'staged'`;
      return row!.count;
    },

    /** Deletes captured versions, except for the newest ones and the active one. */
    async deleteOldest(tenantId: TenantId, poolId: string, keep: number): Promise<void> {
      await sql`
        delete from pool_versions
        where tenant_id = ${tenantId} and pool_id = ${poolId} and origin = 'change'
          and version not in (
            select version from pool_active_versions where tenant_id = ${tenantId} and pool_id = ${poolId})
          and version <= (
            select version from pool_versions
            where tenant_id = ${tenantId} and pool_id = ${poolId} and origin = 'change'
            order by version desc offset ${keep} limit 1)`;
    },

    /** Deletes all versions of a pool that never existed for anybody. */
    async deleteAll(tenantId: TenantId, poolId: string): Promise<void> {
      await sql`delete from pool_versions where tenant_id = ${tenantId} and pool_id = ${poolId}`;
      await sql`delete from pool_active_versions where tenant_id = ${tenantId} and pool_id = ${poolId}`;
    },

    async liveContent(tenantId: TenantId, poolId: PoolId): Promise<PoolContent | undefined> {
      const [pool, rules] = await Promise.all([
        poolStore(sql).find(tenantId, poolId),
        ruleStore(sql).ofPool(tenantId, poolId),
      ]);
      return pool && { strategy: pool.strategy, settings: pool.settings, rules: rules.map(toContentRule) };
    },

    /** Replaces the rules of a pool. Rules that stay the same keep their stamps. */
    async replaceRules(tenantId: TenantId, poolId: PoolId, rules: readonly ContentRule[], now: Date): Promise<void> {
      await sql`
        delete from rules
        where tenant_id = ${tenantId} and pool_id = ${poolId} and id <> all(${rules.map(({ id }) => id)}::text[])`;
      if (rules.length === 0) return;
      await sql`
        insert into rules (tenant_id, id, pool_id, name, priority, condition, enabled, stop_on_match, on_error, action,
          created_at, updated_at)
        select ${tenantId}, id, ${poolId}, name, priority, condition, enabled, stop_on_match, on_error, action,
          created_at, ${now}
        from ${recordRows(sql, "rules", rules)}
        on conflict (tenant_id, id) do update set
          name = excluded.name, priority = excluded.priority, condition = excluded.condition,
          enabled = excluded.enabled, stop_on_match = excluded.stop_on_match, on_error = excluded.on_error,
          action = excluded.action, created_at = excluded.created_at, updated_at = excluded.updated_at,
          record_version = rules.record_version + 1
        where (rules.name, rules.priority, rules.condition, rules.enabled, rules.stop_on_match, rules.on_error,
            rules.action, rules.created_at)
          is distinct from (excluded.name, excluded.priority, excluded.condition, excluded.enabled,
            excluded.stop_on_match, excluded.on_error, excluded.action, excluded.created_at)`;
    },

    /** The contents of versions, by pool. */
    async contents(tenantId: TenantId, versions: readonly { readonly poolId: string; readonly version: number }[]) {
      if (versions.length === 0) return new Map<string, string>();
      const rows = await sql<{ poolId: string; content: string }[]>`
        select v.pool_id, v.content
        from unnest(${versions.map(({ poolId }) => poolId)}::text[], ${versions.map(({ version }) => version)}::int[])
          as wanted(pool_id, version)
        join pool_versions v
          on v.tenant_id = ${tenantId} and v.pool_id = wanted.pool_id and v.version = wanted.version`;
      return new Map(rows.map(({ poolId, content }) => [poolId, content]));
    },
  };
}

function toContentRule(rule: ContentRule): ContentRule {
  const { id, createdAt, name, priority, condition, enabled, stopOnMatch, onError, action } = rule;
  return { id, createdAt, name, priority, condition, enabled, stopOnMatch, onError, action };
}
