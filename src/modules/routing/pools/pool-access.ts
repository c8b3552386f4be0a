import type { Context } from "../../../chain/call.ts";
import { fail } from "../../../errors/index.ts";
import { requireEnvironmentAccess } from "../../../platform/access/index.ts";
import { notFound, type TenantChanges } from "../../../platform/db/index.ts";
import type { EventContext, EventRecorder } from "../../operations/index.ts";
import type { PoolId, StoredPool } from "./domain/pool.ts";
import { poolStore } from "./pool-store.ts";
import type { Snapshots } from "./snapshots/snapshots.ts";

/** The tenant and principal of a request. */
export type Caller = Pick<Context, "tenantId" | "principal">;

/** Access to pools that checks the permissions of the caller. */
export type PoolAccess = ReturnType<typeof createPoolAccess>;

/** What the services of pools and their members use. */
export interface PoolServiceParts {
  readonly access: PoolAccess;
  readonly events: EventRecorder;
}

export function createPoolAccess(changes: TenantChanges, snapshots: Pick<Snapshots, "refresh">) {
  /**
   * Publishes a change of a pool to all nodes after the commit. The call returns only after this node has refreshed
   * its snapshot, so the caller sees its own change.
   */
  async function announce({ sql, tenantId, afterCommit }: EventContext, poolId: PoolId): Promise<void> {
    await changes.record(sql, tenantId);
    afterCommit(() => {
      changes.published(tenantId);
      return snapshots.refresh(tenantId, poolId);
    });
  }

  return {
    announce,

    async read(context: Context, poolId: string): Promise<StoredPool> {
      return requireUsablePool(context, await poolStore(context.sql).find(context.tenantId, poolId));
    },

    /**
     * Locks a pool for a change of the pool or its members. Concurrent changes wait until the transaction ends, so
     * counts and merges made here stay valid.
     */
    async change(context: Context, poolId: string): Promise<StoredPool> {
      const pool = requireUsablePool(context, await poolStore(context.sql).raiseRevision(context.tenantId, poolId));
      if (pool.status === "archived") {
        throw fail("FAILED_PRECONDITION", { public: "The pool is archived and cannot be changed." });
      }
      await announce(context, pool.id);
      return pool;
    },
  };
}

/** Returns the pool if it exists and the caller may use its environment; throws otherwise. */
export function requireUsablePool<P extends { readonly environmentKey: string }>(
  context: Caller,
  pool: P | undefined,
): P {
  if (pool === undefined) throw notFound("pool");
  requireEnvironmentAccess(context, pool.environmentKey);
  return pool;
}
