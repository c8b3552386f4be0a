import type { TenantId } from "../../../platform/access/index.ts";
import type { Clock } from "../../../platform/clock/clock.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { lowestUlid } from "../../../platform/ids/ulid.ts";
import { type JobKind, runInBatches } from "../../../platform/jobs/index.ts";
import { forgetDecisions, tenantsWithDecisions } from "./decisions/decision-store.ts";
import { forgetSnapshotParts, forgetSnapshots } from "./decisions/snapshot-store.ts";
import { forgetOutcomes } from "./outcomes/outcome-store.ts";

interface Parts {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly retentionDays: number;
  readonly platformTenantId: () => string;
}

const dayMs = 86_400_000;
const everyMs = 10 * 60_000;
const bite = 2000;
const partsBite = 200;

/** Forgets decisions, outcomes and snapshots that are older than they are kept. Work that is not done stays. */
export function forgetRoutingJob({ sql, clock, retentionDays, platformTenantId }: Parts): JobKind {
  return {
    kind: "routing.forget",
    every: { ms: everyMs, tenantId: platformTenantId },
    async handler({ signal }) {
      const beforeMs = clock.now() - retentionDays * dayMs;
      const below = lowestUlid(beforeMs);
      for (const tenantId of await tenantsWithDecisions(sql, below)) {
        await runInBatches(signal, bite, (limit) => forgetDecisions(sql, tenantId as TenantId, below, limit));
        await runInBatches(signal, bite, (limit) => forgetOutcomes(sql, tenantId as TenantId, below, limit));
      }
      // Marked as in use every half day: whatever still has decisions stays, and parts outlive their snapshots.
      await runInBatches(signal, bite, (limit) => forgetSnapshots(sql, new Date(beforeMs - 2 * dayMs), limit));
      await runInBatches(signal, partsBite, (limit) => forgetSnapshotParts(sql, new Date(beforeMs - 4 * dayMs), limit));
    },
  };
}
