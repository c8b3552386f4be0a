/**
 * Subscriptions: the plan that a tenant has.
 *
 * Period: the time that one invoice covers. Segment: a time in which a tenant had one version of a plan; a period has
 * several if the plan was changed. Overrides: exceptions from the plan for one tenant. Renewal: the start of the next
 * period.
 */

import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventContext, EventRecorder } from "../../operations/index.ts";
import type { NewSnapshot } from "../entitlements/index.ts";
import type { Operators } from "../operators.ts";
import type { Plans } from "../plans/index.ts";
import type { Period } from "./domain/subscription.ts";
import { type DraftInvoice, subscriptionHandlers } from "./handler.ts";
import { renewalJob } from "./jobs.ts";
import { createRenewals } from "./renewal.ts";
import { createSubscriptionService } from "./service.ts";
import { subscriptionStore } from "./store.ts";

export type { Period, PlanChange, Segment } from "./domain/subscription.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "clock"> {
  readonly plans: Plans;
  readonly operators: Operators;
  readonly events: EventRecorder;
  readonly platformTenantId: () => string;
  readonly issueFromPlan: (context: EventContext, tenantId: TenantId, input: NewSnapshot) => Promise<void>;
  readonly draft: DraftInvoice;
}

/** The module's public API. */
export type Subscriptions = ReturnType<typeof createSubscriptions>;

export function createSubscriptions({ draft, ...parts }: Dependencies) {
  const renewals = createRenewals(parts);
  const service = createSubscriptionService({ ...parts, renewals });
  const { job, renewAll } = renewalJob({ ...parts, renewals });
  return {
    handlers: subscriptionHandlers(service, parts.operators, draft),
    jobs: [job],
    renewAll,
    planSnapshot: service.planSnapshot,

    /** Prevents the invoicing of a tenant until the transaction ends; returns the end of its last invoiced period. */
    async holdInvoices(tx: Sql, tenantId: TenantId): Promise<Date | undefined> {
      await subscriptionStore(tx).lockShared(tenantId);
      return subscriptionStore(tx).findInvoicedUntil(tenantId);
    },

    /** Locks a tenant's subscription, so that no usage is recorded until the transaction ends. */
    async lock(tx: Sql, tenantId: TenantId): Promise<void> {
      await subscriptionStore(tx).lock(tenantId);
    },

    async findPeriodStart(sql: Sql, tenantId: TenantId): Promise<Date | undefined> {
      return (await subscriptionStore(sql).find(tenantId))?.periodStart;
    },

    findFirstStart: (sql: Sql) => subscriptionStore(sql).findFirstStart(),
    findChanges: (sql: Sql, range: { from: Date; until: Date }) => subscriptionStore(sql).findChanges(range),
    findPeriod: (sql: Sql, tenantId: TenantId, startsAt: Date) => subscriptionStore(sql).findPeriod(tenantId, startsAt),
    findSegments: (sql: Sql, tenantId: TenantId, period: { startsAt: Date; endsAt: Date }) =>
      subscriptionStore(sql).findSegments(tenantId, period),
    findClosedPeriods: (sql: Sql, before: Date, limit: number, after: Period | undefined) =>
      subscriptionStore(sql).findEndedPeriods("closed", before, limit, after),
    markInvoiced: (sql: Sql, tenantId: TenantId, startsAt: Date) =>
      subscriptionStore(sql).setPeriodState(tenantId, startsAt, "invoiced"),
  };
}
