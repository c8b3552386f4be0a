import type { Clock } from "../../../platform/clock/clock.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { type JobKind, runInBatches } from "../../../platform/jobs/index.ts";
import { broadcastStore } from "./broadcasts/broadcast-store.ts";
import { deadLetterStore } from "./dead-letters/dead-letter-store.ts";
import { deleteExpiredPayloads, deliveryStore } from "./delivery/delivery-store.ts";
import { deleteExpiredObservations } from "./observations/observation-store.ts";
import { runStore } from "./runs/run-store.ts";
import { throttleStore } from "./runs/throttle-store.ts";

interface Dependencies {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly retentionDays: number;
  readonly observationRetentionDays: number;
  readonly platformTenantId: () => string;
}

const dayMs = 86_400_000;
const everyMs = 10 * 60_000;
const batchSize = 2000;

/** Deletes notification data after its retention period. */
export function deleteExpiredNotificationsJob(dependencies: Dependencies): JobKind {
  const { sql, clock, retentionDays, observationRetentionDays, platformTenantId } = dependencies;
  return {
    kind: "notifications.delete_expired",
    every: { ms: everyMs, tenantId: platformTenantId },
    async handler({ signal }) {
      const all = (deleteBatch: (limit: number) => Promise<number>) => runInBatches(signal, batchSize, deleteBatch);
      const nowMs = clock.now();
      const beforeMs = nowMs - retentionDays * dayMs;
      for (const tenantId of await deliveryStore(sql).tenantsBefore(beforeMs)) {
        await all((limit) => deliveryStore(sql).deleteEnded(tenantId, beforeMs, limit));
      }
      const observedBefore = new Date(nowMs - observationRetentionDays * dayMs);
      await all((limit) => deleteExpiredObservations(sql, observedBefore, limit));
      await all((limit) => broadcastStore(sql).deleteEnded(new Date(beforeMs), limit));
      await all((limit) => runStore(sql).deleteEnded(new Date(beforeMs), limit));
      await all((limit) => throttleStore(sql).deleteExpired(new Date(nowMs), limit));
      await all((limit) => deleteExpiredPayloads(sql, new Date(nowMs), limit));
      await all((limit) => deadLetterStore(sql).expire(new Date(nowMs), limit));
      await all((limit) => deadLetterStore(sql).deleteExpired(new Date(beforeMs), limit));
    },
  };
}
