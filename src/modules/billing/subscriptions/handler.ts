import {
  Effective as EffectiveNumber,
  type BillingSubscriptionService as Rpc,
  BillingSubscription_Status as Status,
  type SubscriptionOverrides,
} from "../../../../gen/service/api/billing_subscription_pb.ts";
import type { InvoiceDraft } from "../../../../gen/service/api/invoice_pb.ts";
import type { Context } from "../../../chain/call.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { invalid } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { enumNumbers, expectedVersion, nameOf, type Plain } from "../../../platform/records/index.ts";
import type { Grants } from "../entitlements/index.ts";
import type { Operators } from "../operators.ts";
import type { Period, Segment, Subscription } from "./domain/subscription.ts";
import type { Effective, SubscriptionService } from "./service.ts";

/** Calculates what a period with some segments costs, given the usage so far. */
export type DraftInvoice = (
  context: Context,
  tenantId: TenantId,
  period: Period,
  segments: readonly Segment[],
) => Promise<Plain<InvoiceDraft> & { readonly total: bigint }>;

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
      return { subscription: fromSubscription(subscription) };
    },

    async getSubscription(context, request) {
      const tenantId = await operators.requireTenant(context, request.tenantId);
      return { subscription: fromSubscription(await service.requireSubscription(context.sql, tenantId)) };
    },

    async previewSubscription(context, { tenantId, planKey, planVersion, effective }) {
      const ref = { planKey, planVersion };
      const preview = await service.previewChange(context, tenantId, ref, toEffective(effective));
      const unchanged = await draft(context, preview.tenantId, preview.period, preview.unchanged);
      const changed = await draft(context, preview.tenantId, preview.period, preview.changed);
      return { effectiveAt: preview.effectiveAt, unchanged, changed, difference: changed.total - unchanged.total };
    },

    async cancelSubscription(context, { tenantId, effective }) {
      const subscription = await service.cancelSubscription(context, tenantId, toEffective(effective));
      return { subscription: fromSubscription(subscription) };
    },
  };
}

const statuses = enumNumbers(Status);
const effectiveTimes = enumNumbers(EffectiveNumber);

/** When a change takes effect; immediately by default. */
const toEffective = (number: EffectiveNumber): Effective => nameOf(effectiveTimes, number) ?? "now";

/** Converts overrides; an item must not be allowed and denied. */
function toOverrides(overrides: SubscriptionOverrides | undefined): Grants | undefined {
  if (overrides === undefined) return undefined;
  const { allow, deny, limits } = overrides;
  const conflict = allow.find((item) => deny.includes(item));
  if (conflict !== undefined) {
    throw invalid("overrides.deny", "conflict", `contains ${conflict}, which is also in allow`);
  }
  return { allow: [...new Set(allow)], deny: [...new Set(deny)], limits };
}

const fromSubscription = (subscription: Subscription) => ({ ...subscription, status: statuses[subscription.status] });
