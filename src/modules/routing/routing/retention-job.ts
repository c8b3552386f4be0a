import type { TenantId } from "../../../platform/access/index.ts";
import type { Clock } from "../../../platform/clock/clock.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { lowestUlid } from "../../../platform/ids/ulid.ts";
import { type JobKind, runInBatches } from "../../../platform/jobs/index.ts";
import { deleteExpiredOffers } from "../queues/index.ts";
import { deleteUnusedSnapshotParts, deleteUnusedSnapshots } from "./decisions/snapshot-store.ts";
import { deleteExpiredOutcomes, tenantsWithOutcomes } from "./outcomes/outcome-store.ts";

interface Dependencies {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly retentionDays: number;
  readonly platformTenantId: () => string;
}

const dayMs = 86_400_000;
const everyMs = 10 * 60_000;
const batchSize = 2000;
const partBatchSize = 200;

/** Deletes expired outcomes, offers and snapshots. Decisions expire with the history of their queue. */
export function deleteExpiredRoutingJob({ sql, clock, retentionDays, platformTenantId }: Dependencies): JobKind {
  return {
    kind: "routing.delete_expired",
    every: { ms: everyMs, tenantId: platformTenantId },
    async handler({ signal }) {
      const beforeMs = clock.now() - retentionDays * dayMs;
      const below = lowestUlid(beforeMs);
      for (const tenantId of await tenantsWithOutcomes(sql, below)) {
        await runInBatches(signal, batchSize, (limit) =>
          deleteExpiredOutcomes(sql, tenantId as TenantId, below, new Date(beforeMs), limit),
        );
      }
      await runInBatches(signal, batchSize, (limit) => deleteExpiredOffers(sql, new Date(beforeMs), limit));
      // Snapshots in use are marked every 12 hours, so those of recent decisions stay. Parts are retained longer than snapshots.
      await runInBatches(signal, batchSize, (limit) =>
        deleteUnusedSnapshots(sql, new Date(beforeMs - 2 * dayMs), limit),
      );
      await runInBatches(signal, partBatchSize, (limit) =>
        deleteUnusedSnapshotParts(sql, new Date(beforeMs - 4 * dayMs), limit),
      );
    },
  };
}
