import { type RetentionDependencies, retentionJob } from "../../../platform/jobs/index.ts";
import { deadLetterStore } from "./dead-letters/dead-letter-store.ts";
import { deliveryStore } from "./delivery/delivery-store.ts";

interface Dependencies extends RetentionDependencies {
  readonly retentionDays: number;
  readonly observationRetentionDays: number;
}

const dayMs = 86_400_000;

/** Deletes notification data after its retention period. */
export function deleteExpiredNotificationsJob(dependencies: Dependencies) {
  const ageMs = dependencies.retentionDays * dayMs;
  const oldestFirst = true;
  return retentionJob(dependencies, {
    ...{ kind: "notifications.delete_expired", everyMs: 10 * 60_000 },
    rows: [
      {
        ...{ ageMs, tenants: (sql, before) => deliveryStore(sql).tenantsBefore(before) },
        expireOf: (sql, tenant, limit) => deliveryStore(sql).deleteEnded(tenant, limit),
      },
      {
        ageMs: dependencies.observationRetentionDays * dayMs,
        ...{ table: "notification_observations", column: "received_at", oldestFirst },
      },
      {
        ...{ ageMs, table: "notification_broadcasts", column: "updated_at", oldestFirst },
        where: (sql) => sql`status in ('completed', 'failed', 'cancelled')`,
      },
      {
        ...{ ageMs, table: "notification_runs", column: "updated_at", oldestFirst },
        where: (sql) => sql`status in ('completed', 'stopped', 'cancelled')`,
      },
      { table: "notification_throttles", column: "expires_at", oldestFirst },
      { table: "notification_payloads", column: "expires_at", oldestFirst },
      { expire: (sql, now, limit) => deadLetterStore(sql).expire(now, limit) },
      {
        ...{ ageMs, table: "notification_dead_letters", column: "last_failed_at", oldestFirst },
        where: (sql) => sql`status <> 'redriving'`,
      },
    ],
  });
}
