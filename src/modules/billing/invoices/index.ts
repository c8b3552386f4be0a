/**
 * Invoices: what tenants owe.
 *
 * Line: a price of a plan, for a segment of the period. Proration: the share of a flat price, or of included units, that a
 * segment has. Rating: the calculation of lines. Preview: a stored calculation before the end of the period. Invoices are
 * records; nothing is collected.
 */

import type { Context } from "../../../chain/call.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Log } from "../../../platform/log/log.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { Meters } from "../meters/index.ts";
import type { Operators } from "../operators.ts";
import type { Plans } from "../plans/index.ts";
import type { Period, Segment, Subscriptions } from "../subscriptions/index.ts";
import { createCalculation } from "./calculation.ts";
import { fromDraft, invoiceHandlers } from "./handler.ts";
import { invoiceJobs } from "./jobs.ts";
import { createInvoiceService } from "./service.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "clock" | "metrics"> {
  readonly log: Pick<Log, "error">;
  readonly events: EventRecorder;
  readonly operators: Operators;
  readonly plans: Plans;
  readonly meters: Meters;
  readonly subscriptions: () => Subscriptions;
  readonly platformTenantId: () => string;
}

export function createInvoices(dependencies: Dependencies) {
  const calculate = createCalculation(dependencies);
  const service = createInvoiceService({ ...dependencies, calculate });
  return {
    handlers: invoiceHandlers(service, dependencies.operators),
    jobs: invoiceJobs(service, dependencies),
    issueAll: service.issueAll,
    /** Calculates what a period with some segments costs, given the usage so far. */
    async draft({ sql, nowMs }: Context, tenantId: TenantId, period: Period, segments: readonly Segment[]) {
      return fromDraft(await calculate(sql, tenantId, period, segments, nowMs));
    },
  };
}
