import type { Clock } from "../../../../platform/clock/clock.ts";
import type { Database } from "../../../../platform/db/index.ts";
import { type JobKind, runInBatches } from "../../../../platform/jobs/index.ts";
import { deadLetterStore } from "./dead-letter-store.ts";

interface Dependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly retentionDays: number;
  readonly platformTenantId: () => string;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const batchSize = 1000;

/** Creates the job that deletes dead letters whose runs are deleted too. */
export function deleteExpiredLettersJob({ db, clock, retentionDays, platformTenantId }: Dependencies): JobKind {
  return {
    kind: "workflow.delete_expired_letters",
    every: { ms: hourMs, tenantId: platformTenantId },
    async handler({ signal }) {
      const before = new Date(clock.now() - retentionDays * dayMs);
      await runInBatches(signal, batchSize, (limit) => deadLetterStore(db.sql).deleteExpired(before, limit));
    },
  };
}
