import { type RetentionDependencies, retentionJob } from "../../../platform/jobs/index.ts";
import { entitlementStore } from "./store.ts";

/** Deletes evidence after its retention, and the oldest evidence of tenants that have too much. */
export function evidenceCleanupJob(dependencies: RetentionDependencies & { readonly retentionDays: number }) {
  const ageMs = dependencies.retentionDays * 86_400_000;
  return retentionJob(dependencies, {
    ...{ kind: "entitlements.delete_expired_evidence", everyMs: 3_600_000, batchSize: 5000 },
    rows: [
      { ageMs, table: "entitlement_evidence", column: "minute" },
      { expire: (sql, _, limit) => entitlementStore(sql).deleteExcessEvidence(limit) },
    ],
  });
}
