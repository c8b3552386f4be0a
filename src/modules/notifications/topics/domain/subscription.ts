import type { TenantId } from "../../../../platform/access/index.ts";

/** One membership of a subscriber in a topic, from joining to leaving, with constant context keys. */
export interface Subscription {
  readonly tenantId: TenantId;
  readonly topicKey: string;
  readonly id: string;
  readonly subscriberId: string;
  readonly contextKeys: readonly string[];
  readonly createdAt: Date;
}

/** A topic member as a broadcast uses it. */
export type TopicMember = Pick<Subscription, "id" | "subscriberId" | "contextKeys">;

/** Normalizes context keys: sorted and without duplicates, so that equal sets are equal lists. */
export function orderedKeys(contextKeys: readonly string[]): string[] {
  return [...new Set(contextKeys)].sort();
}
