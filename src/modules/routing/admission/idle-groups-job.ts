import type { Clock } from "../../../platform/clock/clock.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { type JobKind, runInBatches } from "../../../platform/jobs/index.ts";
import { deleteIdleGroups } from "./admission-store.ts";

interface Dependencies {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly platformTenantId: () => string;
}

const everyMs = 600_000;
const retentionMs = 86_400_000;
const batchSize = 2000;

/** Deletes admission groups that have been idle for a day. Keys are chosen by callers, so groups would grow without bound. */
export function deleteIdleGroupsJob({ sql, clock, platformTenantId }: Dependencies): JobKind {
  return {
    kind: "admission.delete_idle_groups",
    every: { ms: everyMs, tenantId: platformTenantId },
    async handler({ signal }) {
      const before = new Date(clock.now() - retentionMs);
      await runInBatches(signal, batchSize, (limit) => deleteIdleGroups(sql, before, limit));
    },
  };
}
