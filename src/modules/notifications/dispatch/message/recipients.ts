import type { TenantId } from "../../../../platform/access/index.ts";
import { createBatcher, type Database, notFound, type Sql } from "../../../../platform/db/index.ts";
import type { Preferences, SubscriberLayers } from "../../preferences/index.ts";
import type { Endpoint, Subscriber, Subscribers } from "../../subscribers/index.ts";
import type { Delivery } from "../domain/delivery.ts";
import type { Trigger } from "../domain/trigger.ts";

/** A subscriber to notify, with the endpoints and preference layers that decide whether and where. */
export interface Recipient {
  readonly subscriber: Subscriber;
  readonly endpoints: readonly Endpoint[];
  readonly layers: ReturnType<SubscriberLayers["of"]>;
}

/** The modules that recipients are read from. */
export interface RecipientParts {
  readonly subscribers: Pick<Subscribers, "findMany" | "endpointsOf">;
  readonly preferences: Pick<Preferences, "readLayers">;
}

/**
 * Reads many recipients of one workflow and topic ("" for none) in three pipelined statements; unknown subscribers are
 * omitted.
 */
export async function readRecipients(
  { subscribers, preferences }: RecipientParts,
  sql: Sql,
  tenantId: TenantId,
  trigger: { readonly workflowKey: string; readonly userId: string; readonly topicKey: string },
  subscriberIds: readonly string[],
): Promise<Map<string, Recipient>> {
  const [found, endpoints, layers] = await Promise.all([
    subscribers.findMany(sql, tenantId, subscriberIds),
    subscribers.endpointsOf(sql, tenantId, subscriberIds),
    preferences.readLayers(sql, tenantId, trigger, subscriberIds),
  ]);
  return new Map(
    [...found].map(([id, subscriber]) => [
      id,
      { subscriber, endpoints: endpoints.get(id) ?? [], layers: layers.of(id) },
    ]),
  );
}

/** Reads a subscriber's endpoints and preference layers; the subscriber itself need not be stored yet. */
export async function readRecipient(
  { subscribers, preferences }: RecipientParts,
  sql: Sql,
  trigger: { readonly workflowKey: string; readonly userId: string },
  subscriber: Subscriber,
): Promise<Recipient> {
  const { tenantId, id } = subscriber;
  const [endpoints, layers] = await Promise.all([
    subscribers.endpointsOf(sql, tenantId, [id]),
    preferences.readLayers(sql, tenantId, { ...trigger, topicKey: "" }, [id]),
  ]);
  return { subscriber, endpoints: endpoints.get(id) ?? [], layers: layers.of(id) };
}

interface RecipientReaderParts extends RecipientParts {
  readonly db: Database;
  readonly subscribers: Pick<Subscribers, "findMany" | "endpointsOf" | "idsByExternalId">;
}

/** Creates the reader of single recipients, which batches the reads of concurrent callers. */
export function createRecipientReader(parts: RecipientReaderParts) {
  const { db, subscribers } = parts;

  const recipients = createBatcher<RecipientQuery, Recipient | undefined>({
    lanes: 2,
    async flush(queries) {
      const groups = Map.groupBy(queries, groupOf);
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
      return queries.map((each) => found.get(groupOf(each))!.get(each.subscriberId));
    },
  });

  const externalIds = createBatcher<{ tenantId: TenantId; externalId: string }, string | undefined>({
    lanes: 2,
    async flush(requests) {
      const found = new Map<TenantId, Map<string, string>>();
      await Promise.all(
        [...Map.groupBy(requests, ({ tenantId }) => tenantId)].map(async ([tenantId, group]) => {
          const ids = [...new Set(group.map(({ externalId }) => externalId))];
          found.set(tenantId, await subscribers.idsByExternalId(db.sql, tenantId, ids));
        }),
      );
      return requests.map(({ tenantId, externalId }) => found.get(tenantId)!.get(externalId));
    },
  });

  return {
    async read(tenantId: TenantId, { audience, workflowKey, userId }: Trigger): Promise<Recipient> {
      const subscriberId =
        audience.kind === "external" ? await externalIds.run({ tenantId, externalId: audience.name }) : audience.name;
      const recipient =
        subscriberId === undefined ? undefined : await recipients.run({ tenantId, workflowKey, userId, subscriberId });
      if (recipient === undefined) throw notFound("subscriber");
      return recipient;
    },
  };
}

type RecipientQuery = Pick<Delivery, "tenantId" | "workflowKey" | "userId" | "subscriberId">;

function groupOf({ tenantId, workflowKey, userId }: RecipientQuery): string {
  return [tenantId, workflowKey, userId].join("\0");
}
