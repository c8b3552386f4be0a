import type { Context } from "../../../chain/call.ts";
import { fail } from "../../../errors/index.ts";
import { mayUseEnvironment } from "../../../platform/access/index.ts";
import { notFound, type TenantChanges } from "../../../platform/db/index.ts";
import type { EventContext } from "../../operations/index.ts";
import type { PoolId, StoredPool } from "./domain/pool.ts";
import { poolStore } from "./pool-store.ts";
import type { Snapshots } from "./snapshots/snapshots.ts";

/** Who asks. */
export type Caller = Pick<Context, "tenantId" | "principal">;

/** How the use cases come by a pool: only one that the caller may work with. */
export type PoolAccess = ReturnType<typeof createPoolAccess>;

/** Creates the access to pools. */
export function createPoolAccess(changes: TenantChanges, snapshots: Pick<Snapshots, "refresh">) {
  /**
   * Tells every node, after the commit, that a pool changed. The call is answered once this node decides by the change,
   * so that whoever made it sees it in effect.
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

    /** A pool to be looked at. */
    async read(context: Context, poolId: string): Promise<StoredPool> {
      return usable(context, await poolStore(context.sql).find(context.tenantId, poolId));
    },

    /**
     * A pool that is about to be changed, or something of it. Others who want to change it wait for the end of the
     * transaction, so that what is counted and merged here is still so when it is written.
     */
    async change(context: Context, poolId: string): Promise<StoredPool> {
      const pool = usable(context, await poolStore(context.sql).raiseRevision(context.tenantId, poolId));
      if (pool.status === "archived") {
        throw fail("FAILED_PRECONDITION", { public: "The pool is archived and cannot be changed." });
      }
      await announce(context, pool.id);
      return pool;
    },
  };
}

/** A pool that there is and that the caller may work with; throws otherwise. */
export function usable<P extends { readonly environmentKey: string }>(context: Caller, pool: P | undefined): P {
  if (pool === undefined) throw notFound("pool");
  refuseEnvironment(context, pool.environmentKey);
  return pool;
}

/** Refuses an environment that the caller may not work in. */
export function refuseEnvironment({ principal }: Caller, key: string): void {
  if (mayUseEnvironment(principal, key)) return;
  throw fail("PERMISSION_DENIED", { public: `The caller may not work in the environment ${key}.` });
}
