import type { TenantId } from "../../../../platform/access/index.ts";
import { createBatcher, type Database, notFound, type Sql } from "../../../../platform/db/index.ts";
import type { Preferences, SubscriberLayers } from "../../preferences/index.ts";
import type { Endpoint, Subscriber, Subscribers } from "../../subscribers/index.ts";
import type { Trigger } from "../domain/trigger.ts";

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

/** Reads what decides whether and where a subscriber is notified; the subscriber itself need not be stored yet. */
export async function readRecipientOf(
  { subscribers, preferences }: RecipientParts,
  sql: Sql,
  occasion: { readonly workflowKey: string; readonly userId: string },
  subscriber: Subscriber,
): Promise<Recipient> {
  const { tenantId, id } = subscriber;
  const [endpoints, layers] = await Promise.all([
    subscribers.endpointsOf(sql, tenantId, [id]),
    preferences.layersOf(sql, tenantId, { ...occasion, topicKey: "" }, [id]),
  ]);
  return { subscriber, endpoints: endpoints.get(id) ?? [], layers: layers.of(id) };
}

interface ReadingParts extends RecipientParts {
  readonly db: Database;
  readonly subscribers: Pick<Subscribers, "findMany" | "endpointsOf" | "idsByExternalId">;
}

/** Reads the recipients of single sends, those of many callers at once. */
export function createRecipientReading(parts: ReadingParts) {
  const { db, subscribers } = parts;

  const recipients = createBatcher<Reading, Recipient | undefined>({
    lanes: 2,
    async flush(readings) {
      const groups = Map.groupBy(readings, groupOf);
      const found = new Map<string, Map<string, Recipient>>();
      await Promise.all(
        [...groups].map(async ([group, members]) => {
          const ids = [...new Set(members.map(({ subscriberId }) => subscriberId))];
          found.set(
            group,
            await readRecipients(parts, db.sql, members[0]!.tenantId, { ...members[0]!, topicKey: "" }, ids),
          );
        }),
      );
      return readings.map((each) => found.get(groupOf(each))!.get(each.subscriberId));
    },
  });

  const names = createBatcher<{ tenantId: TenantId; externalId: string }, string | undefined>({
    lanes: 2,
    async flush(asked) {
      const found = new Map<TenantId, Map<string, string>>();
      await Promise.all(
        [...Map.groupBy(asked, ({ tenantId }) => tenantId)].map(async ([tenantId, group]) => {
          const externalIds = [...new Set(group.map(({ externalId }) => externalId))];
          found.set(tenantId, await subscribers.idsByExternalId(db.sql, tenantId, externalIds));
        }),
      );
      return asked.map(({ tenantId, externalId }) => found.get(tenantId)!.get(externalId));
    },
  });

  return {
    async recipient(tenantId: TenantId, { audience, workflowKey, userId }: Trigger): Promise<Recipient> {
      const subscriberId =
        audience.kind === "external" ? await names.run({ tenantId, externalId: audience.name }) : audience.name;
      const recipient =
        subscriberId === undefined ? undefined : await recipients.run({ tenantId, workflowKey, userId, subscriberId });
      if (recipient === undefined) throw notFound("subscriber");
      return recipient;
    },
  };
}

interface Reading {
  readonly tenantId: TenantId;
  readonly workflowKey: string;
  readonly userId: string;
  readonly subscriberId: string;
}

function groupOf({ tenantId, workflowKey, userId }: Reading): string {
  return [tenantId, workflowKey, userId].join("\0");
}
