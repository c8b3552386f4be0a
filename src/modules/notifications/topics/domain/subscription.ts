import type { TenantId } from "../../../../platform/access/index.ts";

/** That a subscriber is in a topic: one stay, from joining to leaving, with the same context keys throughout. */
export interface Subscription {
  readonly tenantId: TenantId;
  readonly topicKey: string;
  readonly id: string;
  readonly subscriberId: string;
  readonly contextKeys: readonly string[];
  readonly createdAt: Date;
}

/** A member of a topic as a broadcast sees it. */
export type TopicMember = Pick<Subscription, "id" | "subscriberId" | "contextKeys">;

/** Context keys as they are kept: each once and in order, so that the same set is always the same list. */
export function orderedKeys(contextKeys: readonly string[]): string[] {
  return [...new Set(contextKeys)].sort();
}
