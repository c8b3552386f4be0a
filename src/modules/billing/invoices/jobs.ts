import type { Sql } from "../../../platform/db/index.ts";
import { type JobKind, type RetentionDependencies, retentionJob } from "../../../platform/jobs/index.ts";
import type { InvoiceService } from "./service.ts";

const minuteMs = 60_000;
const previewMsMax = 30 * 86_400_000;

/** The jobs that issue invoices and delete old previews. */
export function invoiceJobs(service: InvoiceService, dependencies: RetentionDependencies): JobKind[] {
  const { clock, platformTenantId } = dependencies;
  const where = (sql: Sql) => sql`status = 'preview'`;
  return [
    {
      kind: "billing.issue_invoices",
      every: { ms: minuteMs, tenantId: platformTenantId },
      handler: ({ signal }) => service.issueAll(clock.now(), signal),
    },
    retentionJob(dependencies, {
      ...{ kind: "billing.delete_previews", everyMs: 60 * minuteMs, batchSize: 5000 },
      rows: [{ ageMs: previewMsMax, table: "billing_invoices", column: "created_at", where }],
    }),
  ];
}
