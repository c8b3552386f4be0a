import type { TenantId } from "../../../../platform/access/index.ts";
import type { Binding } from "../../../../platform/crypto/index.ts";
import type { Json, JsonObject } from "../../../../platform/document/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";

export type SubscriptionId = string & { readonly __id: "trigger_subscription" };

/** A receiver of events. Values of a route, and the input and run key of a workflow, are templates over `event`. */
export type Target =
  | {
      readonly kind: "workflow";
      readonly definition: string;
      /** 0: the version that is active when a run starts. */
      readonly version: number;
      /** Undefined: the event itself. */
      readonly input?: Json | undefined;
      readonly runKey: string;
    }
  | { readonly kind: "route"; readonly request: JsonObject }
  | { readonly kind: "record" };

export type SubscriptionStatus = "active" | "paused" | "failing" | "expired";

/** Receives the events of a trigger for one connection. */
export interface Subscription extends Stamps {
  readonly tenantId: TenantId;
  readonly id: SubscriptionId;
  readonly environmentId: string;
  readonly environmentKey: string;
  readonly name: string;
  readonly triggerKey: string;
  readonly providerKey: string;
  readonly connectionId: string;
  readonly kind: "webhook" | "poll";
  readonly input: JsonObject;
  readonly condition: string;
  readonly target: Target;
  readonly paused: boolean;
  readonly status: SubscriptionStatus;
  readonly intakeError: string;
  readonly deliveryError: string;
  readonly readyAt: Date | null;
  readonly lastEventAt: Date | null;
  readonly scannedAt: Date | null;
  readonly pollDueAt: Date | null;
  readonly pollFailures: number;
  /** The registration that is not being removed; null if there is none. */
  readonly registration: RegistrationStatus | null;
}

/** The state of a webhook at the provider. */
export interface RegistrationStatus {
  readonly state: "pending" | "active";
  readonly externalId: string;
  readonly expiresAt: Date | null;
  readonly failures: number;
  readonly dueAt: Date | null;
}

/** The secrets of a subscription or registration. */
export interface Secrets {
  /** The key that deliveries are signed with, or the public key of the signer. */
  readonly signing?: string | undefined;
  /** The secret part of the callback URL. */
  readonly urlKey?: string | undefined;
}

/** The field that sealed secrets of a subscription are bound to. */
export function subscriptionBinding({ tenantId, id }: { readonly tenantId: string; readonly id: string }): Binding {
  return { tenantId, recordId: id, field: "trigger_subscription.secrets" };
}

/** The field that sealed secrets of a registration are bound to. */
export function registrationBinding({ tenantId, id }: { readonly tenantId: string; readonly id: string }): Binding {
  return { tenantId, recordId: id, field: "trigger_registration.secrets" };
}

/** Maximum number of subscriptions per tenant. */
export const subscriptionsMax = 10_000;

/** The number of shards that subscriptions are divided into. */
export const shardCount = 64;

/** The query parameter with the secret part of a callback URL. */
export const urlKeyParameter = "key";

/** The path of a subscription's webhook intake. */
export function callbackPath({ tenantId, id }: { readonly tenantId: string; readonly id: string }): string {
  return `/callbacks/connectors/${tenantId}/${id}`;
}
