import type { TenantId } from "../../platform/access/index.ts";
import type { Sql } from "../../platform/db/index.ts";
import type { Preferences, SubscriberLayers } from "../preferences/index.ts";
import type { Endpoint, Subscriber, Subscribers } from "../subscribers/index.ts";

/** Someone who is to be notified, with all that decides whether and where. */
export interface Recipient {
  readonly subscriber: Subscriber;
  readonly endpoints: readonly Endpoint[];
  readonly layers: ReturnType<SubscriberLayers["of"]>;
}

/** What recipients are read by. */
export interface RecipientParts {
  readonly subscribers: Pick<Subscribers, "findMany" | "endpointsOf">;
  readonly preferences: Pick<Preferences, "layersOf">;
}

/** Reads many recipients of one workflow and topic ("" for none) in three statements that travel together; those that are not there are left out. */
export async function readRecipients(
  { subscribers, preferences }: RecipientParts,
  sql: Sql,
  tenantId: TenantId,
  occasion: { readonly workflowKey: string; readonly userId: string; readonly topicKey: string },
  subscriberIds: readonly string[],
): Promise<Map<string, Recipient>> {
  const [found, endpoints, layers] = await Promise.all([
    subscribers.findMany(sql, tenantId, subscriberIds),
    subscribers.endpointsOf(sql, tenantId, subscriberIds),
    preferences.layersOf(sql, tenantId, occasion, subscriberIds),
  ]);
  return new Map(
    [...found].map(([id, subscriber]) => [
      id,
      { subscriber, endpoints: endpoints.get(id) ?? [], layers: layers.of(id) },
    ]),
  );
}
