import type { Clock } from "../../../platform/clock/clock.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { type JobKind, runInBatches } from "../../../platform/jobs/index.ts";
import type { InvoiceService } from "./service.ts";
import { invoiceStore } from "./store.ts";

interface Dependencies {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly platformTenantId: () => string;
}

const minuteMs = 60_000;
const previewMsMax = 30 * 86_400_000;
const batchSize = 5000;

/** The jobs that issue invoices and delete old previews. */
export function invoiceJobs(service: InvoiceService, { sql, clock, platformTenantId }: Dependencies): JobKind[] {
  return [
    {
      kind: "billing.issue_invoices",
      every: { ms: minuteMs, tenantId: platformTenantId },
      handler: ({ signal }) => service.issueAll(clock.now(), signal),
    },
    {
      kind: "billing.delete_previews",
      every: { ms: 60 * minuteMs, tenantId: platformTenantId },
      handler: ({ signal }) =>
        runInBatches(signal, batchSize, (limit) =>
          invoiceStore(sql).deletePreviews(new Date(clock.now() - previewMsMax), limit),
        ),
    },
  ];
}
