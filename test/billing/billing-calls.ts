import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  type BillingSubscription,
  CancelSubscriptionRequestSchema,
  type CancelSubscriptionResponse,
  SetSubscriptionRequestSchema,
  type SetSubscriptionResponse,
} from "../../gen/service/api/billing_subscription_pb.ts";
import {
  type Invoice,
  Invoice_Status,
  ListInvoicesRequestSchema,
  type ListInvoicesResponse,
  PreviewInvoiceRequestSchema,
  type PreviewInvoiceResponse,
} from "../../gen/service/api/invoice_pb.ts";
import {
  CreateMeterRequestSchema,
  GetUsageRequestSchema,
  type GetUsageResponse,
  Meter_Aggregation,
  RecordUsageRequestSchema,
  type RecordUsageResponse,
} from "../../gen/service/api/meter_pb.ts";
import {
  CreatePlanRequestSchema,
  PlanTerms_Interval,
  type PlanTermsSchema,
  Price_Model,
} from "../../gen/service/api/plan_pb.ts";
import type { TenantId } from "../../src/platform/access/index.ts";
import type { billingFixture } from "./billing-fixture.ts";

type Terms = MessageInitShape<typeof PlanTermsSchema>;
type Report = MessageInitShape<typeof RecordUsageRequestSchema>["events"];

/** Terms of plans with monthly periods. */
export const monthly = { currency: "EUR", interval: PlanTerms_Interval.MONTH };

/** A flat price. */
export const flat = (amount: bigint) => ({ key: "base", name: "Base", model: Price_Model.FLAT, amount });

/** The milliseconds of a time in a response. */
export const msOf = (time: { seconds: bigint } | undefined) => Number(time!.seconds) * 1000;

let serial = 0;
const fresh = (stem: string) => `${stem}${serial++}`;

/** Calls of the operations of billing. */
export function billingCalls({ node, clock, call, platformTenantId, never }: ReturnType<typeof billingFixture>) {
  const { handlers } = node;
  const plans = handlers["service.api.PlanService"];
  const meters = handlers["service.api.MeterService"];
  const subscriptions = handlers["service.api.BillingSubscriptionService"];
  const invoices = handlers["service.api.InvoiceService"];

  return {
    async newPlan(terms: Partial<Terms> = {}, selfService = true): Promise<string> {
      const key = fresh("plan");
      const request = { key, name: key, selfService, terms: { ...monthly, ...terms } as never };
      await call(platformTenantId, plans.createPlan, CreatePlanRequestSchema, request, true);
      return key;
    },

    async newMeter(aggregation: Meter_Aggregation = Meter_Aggregation.SUM, options: object = {}): Promise<string> {
      const key = fresh("meter");
      const request = { key, name: key, aggregation, ...options };
      await call(platformTenantId, meters.createMeter, CreateMeterRequestSchema, request, true);
      return key;
    },

    async subscribe(tenantId: TenantId, planKey: string, choice: object = {}): Promise<BillingSubscription> {
      const request = { planKey, ...choice };
      const platform = "overrides" in choice;
      const { subscription } = await call<typeof SetSubscriptionRequestSchema, SetSubscriptionResponse>(
        ...[tenantId, subscriptions.setSubscription, SetSubscriptionRequestSchema, request, platform],
      );
      return subscription!;
    },

    async cancel(tenantId: TenantId, choice: object = {}): Promise<BillingSubscription> {
      const { subscription } = await call<typeof CancelSubscriptionRequestSchema, CancelSubscriptionResponse>(
        ...[tenantId, subscriptions.cancelSubscription, CancelSubscriptionRequestSchema, choice],
      );
      return subscription!;
    },

    record(tenantId: TenantId, reported: Report): Promise<RecordUsageResponse> {
      return call(tenantId, meters.recordUsage, RecordUsageRequestSchema, { events: reported });
    },

    usageOf(tenantId: TenantId, meterKey: string): Promise<GetUsageResponse> {
      const until = timestampFromMs(clock.nowMs + 1);
      return call(tenantId, meters.getUsage, GetUsageRequestSchema, { meterKey, until });
    },

    async previewOf(tenantId: TenantId, periodStartMs?: number): Promise<Invoice> {
      const periodStart = periodStartMs === undefined ? undefined : timestampFromMs(periodStartMs);
      const request = periodStart === undefined ? {} : { periodStart };
      const { invoice } = await call<typeof PreviewInvoiceRequestSchema, PreviewInvoiceResponse>(
        ...[tenantId, invoices.previewInvoice, PreviewInvoiceRequestSchema, request],
      );
      return invoice!;
    },

    async issuedTo(tenantId: TenantId): Promise<Invoice[]> {
      const response = await call<typeof ListInvoicesRequestSchema, ListInvoicesResponse>(
        ...[tenantId, invoices.listInvoices, ListInvoicesRequestSchema, { status: Invoice_Status.ISSUED }],
      );
      return response.invoices;
    },

    /** Runs everything that is due at the time of the clock. */
    async runJobs(on = node): Promise<void> {
      await on.renewAll(clock.nowMs, never);
      await on.collector.collect(clock.nowMs, never);
      await on.issueAll(clock.nowMs, never);
    },
  };
}
