import { type RetentionDependencies, retentionJob } from "../../../../platform/jobs/index.ts";
import { deadLetterStore } from "./dead-letter-store.ts";

const hourMs = 3_600_000;

/** Creates the job that deletes dead letters whose runs are deleted too. */
export function deleteExpiredLettersJob(dependencies: RetentionDependencies & { readonly retentionDays: number }) {
  const ageMs = dependencies.retentionDays * 24 * hourMs;
  return retentionJob(dependencies, {
    ...{ kind: "workflow.delete_expired_letters", everyMs: hourMs, batchSize: 1000 },
    rows: [{ ageMs, expire: (sql, before, limit) => deadLetterStore(sql).deleteExpired(before, limit) }],
  });
}
