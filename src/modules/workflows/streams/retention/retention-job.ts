import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import type { JobKind } from "../../../../platform/jobs/index.ts";
import type { PlatformServices } from "../../../area.ts";
import { ackTopic } from "../domain/stream.ts";
import type { StreamMetrics } from "../stream-metrics.ts";
import { deleteOrphanedStreams, findExpiredStreams, removeExpiredRecords } from "./prune-store.ts";

/** Frees the large objects of removed records, in the transaction that removes them. */
export type ReleaseObjects = (tx: Sql, tenantId: TenantId, objectKeys: readonly string[]) => Promise<void>;

interface Dependencies extends Pick<PlatformServices, "db" | "clock" | "signals"> {
  readonly metrics: StreamMetrics;
  readonly platformTenantId: () => string;
  readonly releaseObjects: ReleaseObjects | undefined;
}

const everyMs = 60_000;
const streamsPerRound = 100;
const recordsPerTransaction = 1000;
const orphansPerStatement = 500;

/** Creates the job that removes records after the retention of their stream, and streams after that of their run. */
export function pruneStreamsJob(dependencies: Dependencies): JobKind {
  const { db, clock, signals, metrics, platformTenantId, releaseObjects } = dependencies;
  return {
    kind: "workflow.prune_streams",
    every: { ms: everyMs, tenantId: platformTenantId },
    async handler({ signal }) {
      const now = new Date(clock.now());
      for (let found = streamsPerRound; found === streamsPerRound; ) {
        const keys = await findExpiredStreams(db.sql, now, streamsPerRound);
        let progress = 0;
        for (const key of keys) {
          signal.throwIfAborted();
          const { count } = await db.transaction(async (tx) => {
            const removal = await removeExpiredRecords(tx, key, now, recordsPerTransaction);
            if (removal.objectKeys.length > 0) await releaseObjects?.(tx, key.tenantId, removal.objectKeys);
            return removal;
          });
          progress += count;
          if (count === 0) continue;
          metrics.pruned(count);
          // Removed records are not unread any more.
          signals.wake(ackTopic(key));
        }
        // Full transactions may have left records, and locked streams are left to the next run.
        found = progress >= recordsPerTransaction ? streamsPerRound : progress === 0 ? 0 : keys.length;
      }
      for (let after = "", scanned = orphansPerStatement; scanned === orphansPerStatement; ) {
        signal.throwIfAborted();
        const batch = await deleteOrphanedStreams(db.sql, after, orphansPerStatement);
        after = batch.last;
        scanned = batch.scanned;
      }
    },
  };
}
