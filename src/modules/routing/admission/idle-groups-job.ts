import type { Clock } from "../../../platform/clock/clock.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { type JobKind, runInBatches } from "../../../platform/jobs/index.ts";
import { forgetGroups } from "./admission-store.ts";

interface Parts {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly platformTenantId: () => string;
}

const everyMs = 600_000;
const keptMs = 86_400_000;
const bite = 2000;

/** Removes admission groups that have not been used for a day and hold nothing back: keys come and go. */
export function forgetGroupsJob({ sql, clock, platformTenantId }: Parts): JobKind {
  return {
    kind: "admission.forget_groups",
    every: { ms: everyMs, tenantId: platformTenantId },
    async handler({ signal }) {
      const before = new Date(clock.now() - keptMs);
      await runInBatches(signal, bite, (limit) => forgetGroups(sql, before, limit));
    },
  };
}
