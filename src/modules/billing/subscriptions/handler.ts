import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  CancelSubscriptionResponseSchema,
  GetSubscriptionResponseSchema,
  PreviewSubscriptionResponseSchema,
  type BillingSubscriptionService as Rpc,
  SetSubscriptionResponseSchema,
} from "../../../../gen/service/api/billing_subscription_pb.ts";
import type { InvoiceDraft } from "../../../../gen/service/api/invoice_pb.ts";
import type { Context } from "../../../chain/call.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { expectedVersion } from "../../../platform/records/index.ts";
import type { Operators } from "../operators.ts";
import type { Period, Segment } from "./domain/subscription.ts";
import { fromSubscription, toEffective, toOverrides } from "./messages.ts";
import type { SubscriptionService } from "./service.ts";

/** Calculates what a period with some segments costs, given the usage so far. */
export type DraftInvoice = (
  context: Context,
  tenantId: TenantId,
  period: Period,
  segments: readonly Segment[],
) => Promise<InvoiceDraft>;

/** Creates the handlers of BillingSubscriptionService. */
export function subscriptionHandlers(
  service: SubscriptionService,
  operators: Operators,
  draft: DraftInvoice,
): Handlers<typeof Rpc> {
  return {
    async setSubscription(context, { tenantId, planKey, planVersion, effective, overrides, recordVersion }) {
      const subscription = await service.setSubscription(context, tenantId, {
        ...{ planKey, planVersion, effective: toEffective(effective) },
        overrides: toOverrides(overrides),
        expectedVersion: expectedVersion(recordVersion),
      });
      return create(SetSubscriptionResponseSchema, { subscription: fromSubscription(subscription) });
    },

    async getSubscription(context, request) {
      const tenantId = await operators.requireTenant(context, request.tenantId);
      const subscription = await service.requireSubscription(context.sql, tenantId);
      return create(GetSubscriptionResponseSchema, { subscription: fromSubscription(subscription) });
    },

    async previewSubscription(context, { tenantId, planKey, planVersion, effective }) {
      const ref = { planKey, planVersion };
      const preview = await service.previewChange(context, tenantId, ref, toEffective(effective));
      const unchanged = await draft(context, preview.tenantId, preview.period, preview.unchanged);
      const changed = await draft(context, preview.tenantId, preview.period, preview.changed);
      return create(PreviewSubscriptionResponseSchema, {
        effectiveAt: timestampFromDate(preview.effectiveAt),
        unchanged,
        changed,
        difference: changed.total - unchanged.total,
      });
    },

    async cancelSubscription(context, { tenantId, effective }) {
      const subscription = await service.cancelSubscription(context, tenantId, toEffective(effective));
      return create(CancelSubscriptionResponseSchema, { subscription: fromSubscription(subscription) });
    },
  };
}
