import type { Clock } from "../../platform/clock/clock.ts";
import type { Sql } from "../../platform/db/index.ts";
import type { JobKind } from "../../platform/jobs/index.ts";
import { broadcastStore } from "./broadcast-store.ts";
import { deadLetterStore } from "./dead-letter-store.ts";
import { deliveryStore, forgetPayloads } from "./delivery-store.ts";

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
      const all = async (forget: () => Promise<number>) => {
        for (let gone = bite; gone === bite; ) {
          signal.throwIfAborted();
          gone = await forget();
        }
      };
      const nowMs = clock.now();
      const beforeMs = nowMs - retentionDays * dayMs;
      for (const tenantId of await deliveryStore(sql).tenantsBefore(beforeMs)) {
        await all(() => deliveryStore(sql).forget(tenantId, beforeMs, bite));
      }
      await all(() => broadcastStore(sql).forget(new Date(beforeMs), bite));
      await all(() => forgetPayloads(sql, new Date(nowMs), bite));
      await all(() => deadLetterStore(sql).expire(new Date(nowMs), bite));
      await all(() => deadLetterStore(sql).forget(new Date(beforeMs), bite));
    },
  };
}
