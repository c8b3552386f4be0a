import type { TenantId } from "../../../../platform/access/index.ts";
import type { Json, JsonObject } from "../../../../platform/document/index.ts";
import type { SubscriptionId } from "./subscription.ts";

export type EventStatus = "pending" | "delivered" | "ignored" | "recorded" | "dead";

/** An event before it is stored. */
export interface NewEvent {
  readonly type: string;
  /** The provider's key; undefined if every delivery is an event of its own. */
  readonly key: string | undefined;
  readonly payload: Json;
}

/** Something that happened in a connected account. */
export interface TriggerEvent {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly subscriptionId: SubscriptionId;
  readonly type: string;
  readonly dedupKey: string;
  readonly status: EventStatus;
  readonly attempts: number;
  readonly nextAttemptAt: Date | null;
  readonly lastError: string;
  readonly result: JsonObject | null;
  readonly replays: number;
  readonly receivedAt: Date;
  readonly endedAt: Date | null;
}

/** Maximum size of a stored payload as JSON. */
export const payloadBytesMax = 256 * 1024;

/** The stored part of a provider's key. Its digest identifies the event. */
export const keyLengthMax = 256;
