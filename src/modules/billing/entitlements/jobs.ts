import type { Clock } from "../../../platform/clock/clock.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { type JobKind, runInBatches } from "../../../platform/jobs/index.ts";
import { entitlementStore } from "./store.ts";

const dayMs = 86_400_000;
const batchSize = 5000;

interface Dependencies {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly retentionDays: number;
  readonly platformTenantId: () => string;
}

/** Deletes evidence after its retention, and the oldest evidence of tenants that have too much. */
export function evidenceCleanupJob({ sql, clock, retentionDays, platformTenantId }: Dependencies): JobKind {
  return {
    kind: "entitlements.delete_expired_evidence",
    every: { ms: 3_600_000, tenantId: platformTenantId },
    async handler({ signal }) {
      const store = entitlementStore(sql);
      const before = new Date(clock.now() - retentionDays * dayMs);
      await runInBatches(signal, batchSize, (limit) => store.deleteEvidence(before, limit));
      await runInBatches(signal, batchSize, (limit) => store.deleteExcessEvidence(limit));
    },
  };
}
