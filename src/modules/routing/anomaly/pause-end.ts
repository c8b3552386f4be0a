import type { PlatformServices } from "../../area.ts";
import type { Pools } from "../pools/index.ts";
import type { PoolRef } from "./window-store.ts";

export interface PauseEndDependencies extends Pick<PlatformServices, "db" | "clock" | "log"> {
  readonly pools: Pick<Pools, "poolsWithEndedPauses" | "resumeRecipients">;
}

const poolsPerPage = 100;

/**
 * Resumes the recipients whose pauses have ended, pool by pool, and returns their number. The pauses are rows, so that
 * any node ends them, also after a restart. Whoever removes a row resumes its recipient in the same transaction.
 */
export async function resumeEndedPauses({ db, clock, log, pools }: PauseEndDependencies, signal: AbortSignal) {
  const nowMs = clock.now();
  let resumed = 0;
  let page: readonly PoolRef[] = [];
  do {
    page = await pools.poolsWithEndedPauses(db.sql, new Date(nowMs), page.at(-1), poolsPerPage);
    for (const { tenantId, poolId } of page) {
      signal.throwIfAborted();
      try {
        const ids = await db.transaction((sql) =>
          pools.resumeRecipients({ tenantId, sql, nowMs, afterCommit: sql.afterCommit }, poolId),
        );
        resumed += ids.length;
      } catch (error) {
        // A failure in one pool does not stop the others. The next run retries it.
        log.warn({ err: error, pool: poolId }, "resuming the recipients of a pool failed");
      }
    }
  } while (page.length === poolsPerPage);
  return resumed;
}
