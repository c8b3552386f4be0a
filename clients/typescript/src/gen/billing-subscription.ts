// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { InvoiceDraft } from "./invoice.ts";

/** Subscriptions: the plan that a tenant has. A tenant has one subscription. */
export interface BillingSubscriptionService {
  /** Subscribes a tenant to a version of a plan, or changes its subscription. Tenants may do so themselves for plans with self_service. */
  set(request: SetSubscriptionRequest, options?: CallOptions): Promise<BillingSubscription>;

  /** Returns the subscription of a tenant. */
  get(request?: GetSubscriptionRequest, options?: CallOptions): Promise<BillingSubscription>;

  /** Shows what a change of the subscription would cost in the current period, without changing it. */
  preview(request: PreviewSubscriptionRequest, options?: CallOptions): Promise<PreviewSubscriptionResponse>;

  /** Cancels the subscription of a tenant, now or at the end of the period. */
  cancel(request?: CancelSubscriptionRequest, options?: CallOptions): Promise<BillingSubscription>;
}

const billingSubscriptionServiceOperations = {
  set: { verb: "PUT", path: "/api/v2/billing/subscription", body: "*", keyed: true },
  get: { verb: "GET", path: "/api/v2/billing/subscription" },
  preview: { verb: "POST", path: "/api/v2/billing/subscription:preview", body: "*" },
  cancel: { verb: "POST", path: "/api/v2/billing/subscription:cancel", body: "*", keyed: true },
} as const satisfies Record<keyof BillingSubscriptionService, Operation>;

/** Creates the service over a transport. */
export function createBillingSubscriptionService(transport: Transport): BillingSubscriptionService {
  return bindOperations<BillingSubscriptionService>(transport, billingSubscriptionServiceOperations);
}

/** When a change of a subscription takes effect. */
export type Effective = "EFFECTIVE_UNSPECIFIED" | "EFFECTIVE_NOW" | "EFFECTIVE_PERIOD_END";

/** Exceptions from a plan for one tenant. */
export type SubscriptionOverridesInput = {
  /** Entitlements in addition to those of the plan. */
  readonly allow?: readonly string[];
  /** Entitlements that the tenant must not have. They must not be in allow. */
  readonly deny?: readonly string[];
  /** Daily quotas that replace those of the plan. */
  readonly limits?: Readonly<Record<string, number>>;
};

/** The wanted subscription. */
export type SetSubscriptionRequest = {
  /** The tenant; the caller's own when empty. Only an operator may name another. */
  readonly tenant_id?: string;
  /** The plan. */
  readonly plan_key: string;
  /** The version; the newest if 0. */
  readonly plan_version?: number;
  /** When the change takes effect; immediately if unspecified. */
  readonly effective?: Effective;
  /** Replaces the exceptions from the plan; unchanged if absent. Only an operator may set them. */
  readonly overrides?: SubscriptionOverridesInput;
  /** Makes the change conditional on this version. */
  readonly record_version?: number;
};

/** The subscription of a tenant to a plan. */
export type BillingSubscription = {
  /** The id, a ULID. */
  readonly id: string;
  /** The tenant. */
  readonly tenant_id: string;
  /** The plan. */
  readonly plan_key: string;
  /** The version of the plan. */
  readonly plan_version: number;
  /** Whether the tenant has what the plan grants. */
  readonly status: BillingSubscriptionStatus;
  /** The start of the current billing period. */
  readonly period_start?: string;
  /** The end of the current billing period. */
  readonly period_end?: string;
  /** Exceptions from the plan. */
  readonly overrides?: SubscriptionOverrides;
  /** A change at the end of the period, if there is one. */
  readonly scheduled?: ScheduledChange;
  /** When it was created. */
  readonly created_at?: string;
  /** When it last changed. */
  readonly updated_at?: string;
  /** The version of the record. */
  readonly record_version: number;
};

/** The status of a subscription. */
export type BillingSubscriptionStatus = "STATUS_UNSPECIFIED" | "STATUS_ACTIVE" | "STATUS_CANCELED";

/** Exceptions from a plan for one tenant. */
export type SubscriptionOverrides = {
  /** Entitlements in addition to those of the plan. */
  readonly allow: readonly string[];
  /** Entitlements that the tenant must not have. They must not be in allow. */
  readonly deny: readonly string[];
  /** Daily quotas that replace those of the plan. */
  readonly limits: Readonly<Record<string, number>>;
};

/** A change that takes effect at the end of the period. */
export type ScheduledChange = {
  /** The new plan; empty for a cancellation. */
  readonly plan_key: string;
  /** The version of the new plan. */
  readonly plan_version: number;
};

/** Selects the subscription of a tenant. */
export type GetSubscriptionRequest = {
  /** The tenant; the caller's own when empty. Only an operator may name another. */
  readonly tenant_id?: string;
};

/** The change to preview. */
export type PreviewSubscriptionRequest = {
  /** The tenant; the caller's own when empty. Only an operator may name another. */
  readonly tenant_id?: string;
  /** The plan. */
  readonly plan_key: string;
  /** The version; the newest if 0. */
  readonly plan_version?: number;
  /** When the change takes effect; immediately if unspecified. */
  readonly effective?: Effective;
};

/** What the current period would cost without and with the change, given the usage so far. */
export type PreviewSubscriptionResponse = {
  /** When the change would take effect. */
  readonly effective_at?: string;
  /** The period without the change. */
  readonly unchanged?: InvoiceDraft;
  /** The period with the change. */
  readonly changed?: InvoiceDraft;
  /** The difference of the totals, in the smallest unit of the currency. */
  readonly difference: number;
};

/** Selects the subscription to cancel. */
export type CancelSubscriptionRequest = {
  /** The tenant; the caller's own when empty. Only an operator may name another. */
  readonly tenant_id?: string;
  /** When the change takes effect; immediately if unspecified. */
  readonly effective?: Effective;
};
