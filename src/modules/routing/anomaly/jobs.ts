import { type JobKind, runInBatches } from "../../../platform/jobs/index.ts";
import { anomalyStore } from "./store.ts";
import { createWatching, type WatchingParts } from "./watching.ts";

const lookEveryMs = 60_000;
const dayMs = 86_400_000;
/** How long anomalies are kept. */
const keptDays = 90;
const rowsAtOnce = 5000;

/** What the jobs stand on. */
export interface JobParts extends WatchingParts {
  /** The tenant that instance-wide jobs run under. */
  readonly platformTenantId: () => string;
}

/** The background work of anomalies: looking for them, and forgetting old ones. */
export function anomalyJobs(parts: JobParts): JobKind[] {
  const { db, clock, platformTenantId } = parts;
  const watching = createWatching(parts);
  let lookedAtMs: number | undefined;
  return [
    {
      kind: "anomalies.look",
      every: { ms: lookEveryMs, tenantId: platformTenantId },
      async handler({ signal }) {
        const nowMs = clock.now();
        // Another node may have looked last; a window that is looked at twice is reported once.
        await watching.look(lookedAtMs ?? nowMs - 2 * lookEveryMs, signal);
        lookedAtMs = nowMs;
      },
    },
    {
      kind: "anomalies.forget",
      every: { ms: dayMs, tenantId: platformTenantId },
      async handler({ signal }) {
        const before = new Date(clock.now() - keptDays * dayMs);
        await runInBatches(signal, rowsAtOnce, (limit) => anomalyStore(db.sql).forget(before, limit));
      },
    },
  ];
}
