/**
 * Billing: what tenants may use, what they use, and what they owe for it.
 *
 * Plans: what tenants can subscribe to. Subscriptions: the plan that a tenant has. Entitlements: what a tenant may use.
 * Meters: what is counted. Invoices: what a tenant owes; nothing is collected.
 */
import type { TenantStateReader } from "../../chain/tenant-state.ts";
import type { Area, PlatformServices } from "../area.ts";
import type { EventRecorder } from "../operations/index.ts";
import type { UsageSource } from "../usage-source.ts";
import { createEntitlements } from "./entitlements/index.ts";
import { createInvoices } from "./invoices/index.ts";
import { createMeters, storageUsage } from "./meters/index.ts";
import { createOperators } from "./operators.ts";
import { createPlans } from "./plans/index.ts";
import { createSubscriptions, type Subscriptions } from "./subscriptions/index.ts";

interface Dependencies extends PlatformServices {
  readonly events: EventRecorder;
  readonly readTenantState: TenantStateReader;
  /** The metered work that areas do for tenants. */
  readonly usageSources: readonly UsageSource[];
}

export function createBilling({ config, readTenantState, usageSources, ...parts }: Dependencies) {
  const operators = createOperators(readTenantState);
  const meters = createMeters({
    ...parts,
    operators,
    sources: [...usageSources, storageUsage],
    holdInvoices: (tx, tenantId) => subscriptions.holdInvoices(tx, tenantId),
    findPeriodStart: (sql, tenantId) => subscriptions.findPeriodStart(sql, tenantId),
    findFirstStart: (sql) => subscriptions.findFirstStart(sql),
    findChanges: (sql, range) => subscriptions.findChanges(sql, range),
  });
  const plans = createPlans({ ...parts, operators, findMeters: meters.findMeters });
  const entitlements = createEntitlements({
    ...parts,
    operators,
    enforcement: {
      mode: config["entitlement.enforcement"],
      graceUnprovisioned: config["entitlement.grace_unprovisioned"],
    },
    evidenceRetentionDays: config["entitlement.evidence_retention_days"],
    planSnapshot: (context, tenantId) => subscriptions.planSnapshot(context, tenantId),
  });
  const invoices = createInvoices({ ...parts, operators, plans, meters, subscriptions: () => subscriptions });
  const subscriptions: Subscriptions = createSubscriptions({
    ...parts,
    operators,
    plans,
    issueFromPlan: entitlements.issueFromPlan,
    draft: invoices.draft,
  });
  return {
    handlers: {
      "service.api.PlanService": plans.handlers,
      "service.api.MeterService": meters.handlers,
      "service.api.BillingSubscriptionService": subscriptions.handlers,
      "service.api.InvoiceService": invoices.handlers,
      "service.api.EntitlementService": entitlements.handlers,
    },
    jobs: [...meters.jobs, ...entitlements.jobs, ...subscriptions.jobs, ...invoices.jobs],
    workers: [],
    /** Checks the entitlement of a call. */
    checkEntitlement: entitlements.check,
    /** The daily quotas that come with a tenant's entitlements. */
    readLimits: entitlements.readLimits,
    /** Stores this node's evidence of entitlements. */
    evidence: entitlements.evidence,
    services: [entitlements.evidence],
    /** Counts the service's own usage. */
    collector: meters.collector,
    renewAll: subscriptions.renewAll,
    issueAll: invoices.issueAll,
  } satisfies Area & Record<string, unknown>;
}
