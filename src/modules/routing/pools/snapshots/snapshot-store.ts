import type { TenantId } from "../../../../platform/access/index.ts";
import { type Canary, canaryStore } from "../../../../platform/canary/index.ts";
import type { Database, Sql } from "../../../../platform/db/index.ts";
import type { PoolId, StoredPool } from "../domain/pool.ts";
import type { Recipient } from "../domain/recipient.ts";
import { mergeChanges } from "../domain/recipient-changes.ts";
import type { Rule } from "../domain/rule.ts";
import { poolStore } from "../pool-store.ts";
import { recipientStore } from "../recipients/recipient-store.ts";
import { ruleStore } from "../rules/rule-store.ts";
import { versionStore } from "../versions/version-store.ts";

/** A pool with all state that decisions depend on, read in one database snapshot. */
export interface LoadedPool {
  readonly pool: StoredPool;
  readonly recipients: readonly Recipient[];
  /** Enabled rules in the order in which they apply. */
  readonly rules: readonly Rule[];
  readonly canary?: LoadedCanary | undefined;
}

/** A running canary with the content of its version. */
export interface LoadedCanary extends Canary {
  readonly content: string;
}

/** A pool id and its current revision. */
export interface PoolRevision {
  readonly id: PoolId;
  readonly revision: number;
}

/** The recipients of a pool at a known revision. */
export interface KnownPool {
  readonly recipients: readonly Recipient[];
  readonly revision: number;
}

/** Returns the state of a pool from an earlier read. */
export type KnownPools = (poolId: PoolId) => KnownPool | undefined;

/** SQL queries for snapshots. Archived pools are not found. */
export function snapshotStore(db: Database) {
  return {
    async revision(tenantId: TenantId, id: PoolId): Promise<number | undefined> {
      const [row] = await db.sql<PoolRevision[]>`
        select revision from pools where tenant_id = ${tenantId} and id = ${id} and status <> 'archived'`;
      return row?.revision;
    },

    /** Lists the active pools, oldest first. */
    async activeRevisions(tenantId: TenantId, max: number): Promise<PoolRevision[]> {
      return db.sql<PoolRevision[]>`
        select id, revision from pools where tenant_id = ${tenantId} and status = 'active' order by id limit ${max}`;
    },

    /**
     * Loads pools in one database snapshot, ordered by id. For a known pool, only recipients that changed since are
     * read; the others stay the same objects.
     */
    async load(tenantId: TenantId, ids: readonly PoolId[], knownPools: KnownPools): Promise<LoadedPool[]> {
      const known = new Map(ids.map((id) => [id, knownPools(id)]));
      const unknownIds = ids.filter((id) => known.get(id) === undefined);
      const knownRevisions = ids.flatMap((id) => {
        const before = known.get(id);
        return before === undefined ? [] : [{ id, revision: before.revision }];
      });
      const [pools, rules, recipients, changes, canaries] = await db.transaction(async (tx) => {
        await tx`set transaction isolation level repeatable read, read only`;
        return Promise.all([
          poolStore(tx).findMany(tenantId, ids),
          ruleStore(tx).enabledOfPools(tenantId, ids),
          recipientStore(tx).ofPools(tenantId, unknownIds),
          recipientStore(tx).changedSince(tenantId, knownRevisions),
          loadCanaries(tx, tenantId, ids),
        ]);
      });
      const recipientsByPool = Map.groupBy(recipients, ({ poolId }) => poolId);
      const changesByPool = Map.groupBy(changes, ({ poolId }) => poolId);
      const rulesByPool = Map.groupBy(rules, ({ poolId }) => poolId);
      return pools.map((pool) => {
        const before = known.get(pool.id)?.recipients;
        return {
          pool,
          recipients:
            before === undefined
              ? (recipientsByPool.get(pool.id) ?? [])
              : mergeChanges(before, changesByPool.get(pool.id) ?? []),
          rules: rulesByPool.get(pool.id) ?? [],
          canary: canaries.get(pool.id),
        };
      });
    },
  };
}

async function loadCanaries(tx: Sql, tenantId: TenantId, ids: readonly PoolId[]) {
  const running = await canaryStore(tx).findMany(tenantId, "pool", ids);
  const wanted = running.map(({ targetId, version }) => ({ poolId: targetId, version }));
  const contents = await versionStore(tx).contents(tenantId, wanted);
  return new Map(
    running.flatMap((canary) => {
      const content = contents.get(canary.targetId);
      return content === undefined ? [] : [[canary.targetId, { ...canary, content }]];
    }),
  );
}
