import type { FindUses } from "../../../pack-records.ts";
import { subscriptionStore } from "./subscription-store.ts";

/** Finds the subscriptions to triggers of a provider, and those whose target is a workflow or pool. */
export const findSubscriptionUses: FindUses = async ({ sql, tenantId }, kind, names) => {
  const store = subscriptionStore(sql);
  const found = kind === "manifest" || kind === "workflow_definition" || kind === "pool";
  const subscriptions = found ? await store.namesOfUses(tenantId, kind, names) : [];
  return subscriptions.map((name) => ({ what: "trigger subscription", name }));
};
