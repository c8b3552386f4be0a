import { type RetentionDependencies, retentionJob } from "../../../platform/jobs/index.ts";
import { deleteExpiredOutcomes, tenantsWithOutcomes } from "./outcomes/outcome-store.ts";

const dayMs = 86_400_000;

/** Deletes expired outcomes, offers, snapshots and daily counts. Decisions expire with the history of their queue. */
export function deleteExpiredRoutingJob(dependencies: RetentionDependencies & { readonly retentionDays: number }) {
  const ageMs = dependencies.retentionDays * dayMs;
  return retentionJob(dependencies, {
    ...{ kind: "routing.delete_expired", everyMs: 10 * 60_000 },
    rows: [
      // Only today's are read, and yesterday's by the first sample of their history after midnight.
      { ageMs: 2 * dayMs, table: "queue_daily_counts", column: "day" },
      { ageMs: 2 * dayMs, table: "queue_sampled_counts", column: "day" },
      { ageMs, tenants: tenantsWithOutcomes, expireOf: deleteExpiredOutcomes },
      { ageMs, table: "queue_offers", column: "ended_at" },
      // Snapshots in use are marked every 12 hours, so those of recent decisions stay. Parts are retained longer than snapshots.
      { ageMs: ageMs + 2 * dayMs, table: "routing_snapshots", column: "created_at" },
      { ageMs: ageMs + 4 * dayMs, table: "routing_snapshot_parts", column: "created_at", batchSize: 200 },
    ],
  });
}
