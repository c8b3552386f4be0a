import type { Clock } from "../../../../platform/clock/clock.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { type JobKind, runInBatches } from "../../../../platform/jobs/index.ts";
import { forgetEnded } from "./sweep-store.ts";

interface Parts {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly retentionHours: number;
  readonly platformTenantId: () => string;
}

const everyMs = 60_000;
const bite = 2000;

/** Removes items that ended long enough ago, with their decisions. */
export function forgetEndedJob({ sql, clock, retentionHours, platformTenantId }: Parts): JobKind {
  return {
    kind: "queue.forget_ended",
    every: { ms: everyMs, tenantId: platformTenantId },
    async handler({ signal }) {
      const before = new Date(clock.now() - retentionHours * 3_600_000);
      await runInBatches(signal, bite, (limit) => forgetEnded(sql, before, limit));
    },
  };
}
