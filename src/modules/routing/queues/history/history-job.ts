import { type RetentionDependencies, retentionJob } from "../../../../platform/jobs/index.ts";

const dayMs = 86_400_000;

/** Creates the job that creates the history partitions of the coming days and deletes rows older than the retention period. */
export function maintainHistoryJob(dependencies: RetentionDependencies & { readonly retentionDays: number }) {
  const ageMs = dependencies.retentionDays * dayMs;
  return retentionJob(dependencies, {
    ...{ kind: "queue.maintain_history", everyMs: 10 * 60_000 },
    rows: [{ ageMs, partitions: { name: "routing_history", column: "ended_at" } }],
  });
}
