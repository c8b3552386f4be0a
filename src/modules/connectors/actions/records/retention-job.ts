import { type RetentionDependencies, retentionJob } from "../../../../platform/jobs/index.ts";

/** Creates the job that keeps the partitions of executions. */
export function maintainExecutionsJob(dependencies: RetentionDependencies & { readonly retentionDays: number }) {
  const ageMs = dependencies.retentionDays * 86_400_000;
  return retentionJob(dependencies, {
    ...{ kind: "connector.maintain_executions", everyMs: 10 * 60_000 },
    rows: [{ ageMs, partitions: { name: "connector_executions", column: "started_at" } }],
  });
}
