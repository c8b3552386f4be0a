import { type RetentionDependencies, retentionJob } from "../../../platform/jobs/index.ts";
import { importStore } from "./import-store.ts";

const hourMs = 3_600_000;
/** Ended subscriptions and imports are kept this long. No broadcast takes longer. */
const ageMs = 7 * 24 * hourMs;

/** Deletes ended subscriptions once no broadcast can need them, and ended imports. Ends imports whose job has been lost. */
export const deleteEndedSubscriptionsJob = (dependencies: RetentionDependencies) =>
  retentionJob(dependencies, {
    ...{ kind: "topics.delete_left", everyMs: hourMs, batchSize: 5000 },
    rows: [
      { expire: (sql, now) => importStore(sql).failStale(new Date(now.getTime() - ageMs), now) },
      { ageMs, table: "notification_subscriptions", column: "left_at", oldestFirst: true },
      {
        ...{ ageMs, table: "notification_topic_imports", column: "updated_at", oldestFirst: true },
        where: (sql) => sql`status <> 'running'`,
      },
    ],
  });
