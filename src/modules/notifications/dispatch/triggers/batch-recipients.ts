import { Failure, withinField } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import { type Database, notFound } from "../../../../platform/db/index.ts";
import type { Preferences } from "../../preferences/index.ts";
import type { Subscriber, Subscribers, SubscriberUpsert } from "../../subscribers/index.ts";
import type { Trigger } from "../domain/trigger.ts";
import type { Recipient } from "../message/recipients.ts";

/** A trigger of a batch, with the profile to store before its recipient is notified. */
export interface BatchedTrigger {
  readonly trigger: Trigger;
  readonly profile: SubscriberUpsert | undefined;
}

export interface BatchRecipients {
  /** The recipient of each trigger, or why it has none; undefined for a topic. */
  readonly recipients: readonly (Recipient | Failure | undefined)[];
  /** The profiles to store: one for each external id, with the subscribers as they will be. */
  readonly profiles: readonly { readonly item: SubscriberUpsert; readonly preview: Subscriber }[];
}

interface Dependencies {
  readonly db: Database;
  readonly subscribers: Pick<Subscribers, "findMany" | "endpointsOf" | "idsByExternalId" | "previewMany">;
  readonly preferences: Pick<Preferences, "readLayers">;
}

/**
 * Reads the recipients of a batch. Profiles of one subscriber are merged. Subscribers and addresses take one statement each;
 * preferences take one for each pair of workflow and user.
 */
export async function readBatchRecipients(
  dependencies: Dependencies,
  tenantId: TenantId,
  batch: readonly BatchedTrigger[],
  nowMs: number,
): Promise<BatchRecipients> {
  const { db, subscribers } = dependencies;
  const items = mergeProfiles(batch);
  const previews = await subscribers.previewMany({ sql: db.sql, tenantId, nowMs }, items);
  const known = await findSubscribers(dependencies, tenantId, batch, previews);
  const found = batch.map(({ trigger: { audience } }): Subscriber | Failure | undefined => {
    if (audience.kind === "topic") return undefined;
    const preview = audience.kind === "external" ? previews.get(audience.name) : undefined;
    if (preview instanceof Failure) return withinField("subscriber", preview);
    return preview ?? known.get(`${audience.kind} ${audience.name}`) ?? notFound("subscriber");
  });
  const subscriberIds = [...new Set(found.flatMap((each) => (isSubscriber(each) ? [each.id] : [])))];
  const endpoints = await subscribers.endpointsOf(db.sql, tenantId, subscriberIds);
  const layersOf = await readLayers(dependencies, tenantId, batch, subscriberIds);
  return {
    recipients: found.map((subscriber, at) =>
      isSubscriber(subscriber)
        ? { subscriber, endpoints: endpoints.get(subscriber.id) ?? [], layers: layersOf(batch[at]!, subscriber.id) }
        : subscriber,
    ),
    profiles: items.flatMap((item) => {
      const preview = previews.get(item.externalId);
      return isSubscriber(preview) && preview.active ? [{ item, preview }] : [];
    }),
  };
}

function isSubscriber(found: Subscriber | Failure | undefined): found is Subscriber {
  return found !== undefined && !(found instanceof Failure);
}

/** One profile for each external id; later triggers override fields of earlier ones. */
function mergeProfiles(batch: readonly BatchedTrigger[]): SubscriberUpsert[] {
  const merged = new Map<string, SubscriberUpsert>();
  for (const { profile } of batch) {
    if (profile === undefined) continue;
    const given = Object.entries(profile).filter(([, value]) => value !== undefined);
    const earlier = merged.get(profile.externalId);
    merged.set(profile.externalId, { ...earlier, ...Object.fromEntries(given), externalId: profile.externalId });
  }
  return [...merged.values()];
}

/** The stored subscribers that triggers name, by the kind and text of the name. */
async function findSubscribers(
  { db, subscribers }: Dependencies,
  tenantId: TenantId,
  batch: readonly BatchedTrigger[],
  previews: ReadonlyMap<string, unknown>,
): Promise<ReadonlyMap<string, Subscriber>> {
  const namesOf = (kind: Trigger["audience"]["kind"]) =>
    batch.flatMap(({ trigger: { audience } }) => (audience.kind === kind ? [audience.name] : []));
  const externalIds = namesOf("external").filter((name) => !previews.has(name));
  const ids = await subscribers.idsByExternalId(db.sql, tenantId, externalIds);
  const found = await subscribers.findMany(db.sql, tenantId, [...namesOf("subscriber"), ...ids.values()]);
  const named = new Map<string, Subscriber>();
  for (const subscriber of found.values()) {
    named.set(`subscriber ${subscriber.id}`, subscriber);
    named.set(`external ${subscriber.externalId}`, subscriber);
  }
  return named;
}

async function readLayers(
  { db, preferences }: Dependencies,
  tenantId: TenantId,
  batch: readonly BatchedTrigger[],
  subscriberIds: readonly string[],
) {
  const groupOf = ({ trigger: { workflowKey, userId } }: BatchedTrigger) => JSON.stringify([workflowKey, userId]);
  const groups = Map.groupBy(batch, groupOf);
  const read = await Promise.all(
    [...groups].map(async ([group, [first]]) => {
      const { workflowKey, userId } = first!.trigger;
      const layers = await preferences.readLayers(
        db.sql,
        tenantId,
        { workflowKey, userId, topicKey: "" },
        subscriberIds,
      );
      return [group, layers] as const;
    }),
  );
  const byGroup = new Map(read);
  return (batched: BatchedTrigger, subscriberId: string) => byGroup.get(groupOf(batched))!.of(subscriberId);
}
