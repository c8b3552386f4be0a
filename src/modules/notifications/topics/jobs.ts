import type { Clock } from "../../../platform/clock/clock.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { type JobKind, runInBatches } from "../../../platform/jobs/index.ts";
import { subscriptionStore } from "./subscription-store.ts";

const hourMs = 3_600_000;
/** No broadcast goes on for longer than this. */
const keptMs = 7 * 24 * hourMs;
const rowsAtOnce = 5000;

interface Parts {
  readonly sql: Sql;
  readonly clock: Clock;
  /** The tenant that instance-wide jobs run under. */
  readonly platformTenantId: () => string;
}

/** Forgets who left a topic so long ago that no broadcast asks any more. */
export function forgetSubscriptionsJob({ sql, clock, platformTenantId }: Parts): JobKind {
  return {
    kind: "topics.forget_left",
    every: { ms: hourMs, tenantId: platformTenantId },
    async handler({ signal }) {
      const before = new Date(clock.now() - keptMs);
      await runInBatches(signal, rowsAtOnce, (limit) => subscriptionStore(sql).forget(before, limit));
    },
  };
}
