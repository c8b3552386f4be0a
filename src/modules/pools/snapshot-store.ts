import type { TenantId } from "../../platform/access/index.ts";
import type { Database } from "../../platform/db/index.ts";
import type { PoolId, StoredPool } from "./domain/pool.ts";
import type { Recipient } from "./domain/recipient.ts";
import type { Rule } from "./domain/rule.ts";
import { poolStore } from "./pool-store.ts";
import { recipientStore } from "./recipient-store.ts";
import { ruleStore } from "./rule-store.ts";

/** A pool and all of it that decisions look at, read at one moment. */
export interface LoadedPool {
  readonly pool: StoredPool;
  readonly recipients: readonly Recipient[];
  /** Enabled ones, in the order in which they apply. */
  readonly rules: readonly Rule[];
}

/** A pool's id and the revision that it is at. */
export interface PoolRevision {
  readonly id: PoolId;
  readonly revision: number;
}

/** The recipients of a pool as they were read before; undefined when they were not. */
export type KnownRecipients = (poolId: PoolId) => readonly Recipient[] | undefined;

/** The SQL of snapshots. Archived pools are not there. */
export function snapshotStore(db: Database) {
  return {
    async revision(tenantId: TenantId, id: PoolId): Promise<number | undefined> {
      const [row] = await db.sql<PoolRevision[]>`
        select revision from pools where tenant_id = ${tenantId} and id = ${id} and status <> 'archived'`;
      return row?.revision;
    },

    /** The pools that take items, oldest first. */
    async activeRevisions(tenantId: TenantId, max: number): Promise<PoolRevision[]> {
      return db.sql<PoolRevision[]>`
        select id, revision from pools where tenant_id = ${tenantId} and status = 'active' order by id limit ${max}`;
    },

    /**
     * Reads pools as all of them were at one moment, in the order of their ids. Of a pool that is known from before,
     * only the recipients that changed are read; the others are the same objects as before.
     */
    async load(tenantId: TenantId, ids: readonly PoolId[], known: KnownRecipients): Promise<LoadedPool[]> {
      const before = ids.flatMap((id) => known(id) ?? []);
      const [pools, rules, recipients] = await db.transaction(async (tx) => {
        await tx`set transaction isolation level repeatable read, read only`;
        return Promise.all([
          poolStore(tx).findMany(tenantId, ids),
          ruleStore(tx).enabledOfPools(tenantId, ids),
          before.length === 0
            ? recipientStore(tx).ofPools(tenantId, ids)
            : recipientsAfter(recipientStore(tx), tenantId, ids, before),
        ]);
      });
      const recipientsByPool = Map.groupBy(recipients, ({ poolId }) => poolId);
      const rulesByPool = Map.groupBy(rules, ({ poolId }) => poolId);
      return pools.map((pool) => ({
        pool,
        recipients: recipientsByPool.get(pool.id) ?? [],
        rules: rulesByPool.get(pool.id) ?? [],
      }));
    },
  };
}

/** All recipients of pools, those from before as they were where their versions say so. */
async function recipientsAfter(
  store: ReturnType<typeof recipientStore>,
  tenantId: TenantId,
  poolIds: readonly PoolId[],
  before: readonly Recipient[],
): Promise<Recipient[]> {
  const known = new Map(before.map((recipient) => [recipient.id, recipient]));
  const versions = await store.versionsOfPools(tenantId, poolIds);
  const changed = versions.flatMap(({ id, recordVersion }) =>
    known.get(id)?.recordVersion === recordVersion ? [] : [id],
  );
  for (const recipient of await store.findMany(tenantId, changed)) known.set(recipient.id, recipient);
  return versions.map(({ id }) => known.get(id)!);
}
