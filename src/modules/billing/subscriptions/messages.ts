import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  BillingSubscriptionSchema,
  Effective as EffectiveNumber,
  BillingSubscription_Status as Status,
  type BillingSubscription as SubscriptionMessage,
  type SubscriptionOverrides,
} from "../../../../gen/service/api/billing_subscription_pb.ts";
import { invalid } from "../../../errors/index.ts";
import { stampFields } from "../../../platform/records/index.ts";
import type { Grants } from "../entitlements/index.ts";
import type { Subscription } from "./domain/subscription.ts";
import type { Effective } from "./service.ts";

const statuses = { active: Status.ACTIVE, canceled: Status.CANCELED } as const;

/** When a change takes effect; immediately by default. */
export function toEffective(number: EffectiveNumber): Effective {
  return number === EffectiveNumber.PERIOD_END ? "period_end" : "now";
}

/** Converts overrides; an item must not be allowed and denied. */
export function toOverrides(overrides: SubscriptionOverrides | undefined): Grants | undefined {
  if (overrides === undefined) return undefined;
  const { allow, deny, limits } = overrides;
  const conflict = allow.find((item) => deny.includes(item));
  if (conflict !== undefined) {
    throw invalid("overrides.deny", "conflict", `contains ${conflict}, which is also in allow`);
  }
  return { allow: [...new Set(allow)], deny: [...new Set(deny)], limits };
}

export function fromSubscription(subscription: Subscription): SubscriptionMessage {
  const { overrides, scheduled, status, periodStart, periodEnd } = subscription;
  return create(BillingSubscriptionSchema, {
    id: subscription.id,
    tenantId: subscription.tenantId,
    planKey: subscription.planKey,
    planVersion: subscription.planVersion,
    status: statuses[status],
    periodStart: timestampFromDate(periodStart),
    periodEnd: timestampFromDate(periodEnd),
    overrides: { allow: [...overrides.allow], deny: [...overrides.deny], limits: { ...overrides.limits } },
    ...(scheduled && { scheduled }),
    ...stampFields(subscription),
  });
}
