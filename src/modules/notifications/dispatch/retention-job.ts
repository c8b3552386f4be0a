import type { Clock } from "../../../platform/clock/clock.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { type JobKind, runInBatches } from "../../../platform/jobs/index.ts";
import { broadcastStore } from "./broadcasts/broadcast-store.ts";
import { deadLetterStore } from "./dead-letters/dead-letter-store.ts";
import { deliveryStore, forgetPayloads } from "./delivery/delivery-store.ts";

interface Parts {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly retentionDays: number;
  readonly platformTenantId: () => string;
}

const dayMs = 86_400_000;
const everyMs = 10 * 60_000;
const bite = 2000;

/** Forgets what notifications leave behind when it was kept long enough. */
export function forgetNotificationsJob({ sql, clock, retentionDays, platformTenantId }: Parts): JobKind {
  return {
    kind: "notifications.forget",
    every: { ms: everyMs, tenantId: platformTenantId },
    async handler({ signal }) {
      const all = (forget: (limit: number) => Promise<number>) => runInBatches(signal, bite, forget);
      const nowMs = clock.now();
      const beforeMs = nowMs - retentionDays * dayMs;
      for (const tenantId of await deliveryStore(sql).tenantsBefore(beforeMs)) {
        await all((limit) => deliveryStore(sql).forget(tenantId, beforeMs, limit));
      }
      await all((limit) => broadcastStore(sql).forget(new Date(beforeMs), limit));
      await all((limit) => forgetPayloads(sql, new Date(nowMs), limit));
      await all((limit) => deadLetterStore(sql).expire(new Date(nowMs), limit));
      await all((limit) => deadLetterStore(sql).forget(new Date(beforeMs), limit));
    },
  };
}
