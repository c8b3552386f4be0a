import type { Clock } from "../../../platform/clock/clock.ts";
import type { Database } from "../../../platform/db/index.ts";
import { type JobKind, runInBatches } from "../../../platform/jobs/index.ts";
import { sessionStore } from "./store.ts";

interface Dependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly platformTenantId: () => string;
}

const everyMs = 60_000;
const atOnce = 1000;
/** How long ended sessions stay readable. */
const retentionMs = 30 * 24 * 3600_000;

/** Deletes expired links at once, and sessions some time after their end. */
export function endedSessionsJob({ db, clock, platformTenantId }: Dependencies): JobKind {
  return {
    kind: "identity.delete_ended_sessions",
    every: { ms: everyMs, tenantId: platformTenantId },
    async handler({ signal }) {
      const store = sessionStore(db.sql);
      await runInBatches(signal, atOnce, (limit) => store.deleteLinks(new Date(clock.now()), limit));
      await runInBatches(signal, atOnce, (limit) => store.deleteOld(new Date(clock.now() - retentionMs), limit));
    },
  };
}
