import {
  DeleteSubscriptionRequestSchema,
  ListSubscriptionsRequestSchema,
  UpsertSubscriberRequestSchema,
  UpsertSubscriptionRequestSchema,
} from "../../../../../gen/service/api/subscriber_pb.ts";
import {
  AddTopicSubscribersRequestSchema,
  CreateTopicRequestSchema,
  DeleteTopicRequestSchema,
  ListTopicSubscribersRequestSchema,
  RemoveTopicSubscribersRequestSchema,
} from "../../../../../gen/service/api/topic_pb.ts";
import { type ContextChoice, perform, recordedEvents, testDatabase } from "../../../../../test/harness/context.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { createLog } from "../../../../platform/log/log.ts";
import type { createSubscribers as CreateSubscribers } from "../../subscribers/index.ts";
import { createTopics } from "../index.ts";

/** Creates the module on its own database, with helpers for tests. */
export async function createTopicFixture(
  createSubscribers: typeof CreateSubscribers,
  clock = { now: () => Date.now() },
) {
  const db = await testDatabase(20);
  const events = recordedEvents();
  const subscribers = createSubscribers({ events, checkConnection: async () => {} });
  const log = createLog("silent");
  const parts = { db, clock, log, events, subscribers, platformTenantId: () => "", jobs: { wake: () => {} } };
  const topics = createTopics(parts);
  const { topics: onTopics, subscriptions: onSubscriptions } = topics.handlers;

  return {
    db,
    events,
    topics,

    async createTopic(choice: ContextChoice, key: string, request: object = {}) {
      const message = { key, ...request };
      return (await perform(db, choice, onTopics.createTopic, CreateTopicRequestSchema, message)).topic!;
    },
    async deleteTopic(choice: ContextChoice, key: string) {
      return (await perform(db, choice, onTopics.deleteTopic, DeleteTopicRequestSchema, { key })).topic!;
    },
    async add(
      choice: ContextChoice,
      key: string,
      subscriberIds: readonly string[],
      contextKeys: readonly string[] = [],
    ) {
      const message = { key, subscriberIds: [...subscriberIds], contextKeys: [...contextKeys] };
      const { added, changed, unchanged } = await perform(
        db,
        choice,
        onTopics.addTopicSubscribers,
        AddTopicSubscribersRequestSchema,
        message,
      );
      return { added, changed, unchanged };
    },
    async remove(choice: ContextChoice, key: string, subscriberIds: readonly string[]): Promise<number> {
      const message = { key, subscriberIds: [...subscriberIds] };
      const schema = RemoveTopicSubscribersRequestSchema;
      return (await perform(db, choice, onTopics.removeTopicSubscribers, schema, message)).removed;
    },
    members: (choice: ContextChoice, key: string, request: object = {}) =>
      perform(db, choice, onTopics.listTopicSubscribers, ListTopicSubscribersRequestSchema, { key, ...request }),
    async subscribe(
      choice: ContextChoice,
      subscriberId: string,
      topicKey: string,
      contextKeys: readonly string[] = [],
    ) {
      const message = { subscriberId, topicKey, contextKeys: [...contextKeys] };
      const schema = UpsertSubscriptionRequestSchema;
      return (await perform(db, choice, onSubscriptions.upsertSubscription, schema, message)).subscription!;
    },
    async unsubscribe(choice: ContextChoice, subscriberId: string, topicKey: string) {
      const message = { subscriberId, topicKey };
      const schema = DeleteSubscriptionRequestSchema;
      return (await perform(db, choice, onSubscriptions.deleteSubscription, schema, message)).subscription!;
    },
    subscriptions: (choice: ContextChoice, subscriberId: string, request: object = {}) =>
      perform(db, choice, onSubscriptions.listSubscriptions, ListSubscriptionsRequestSchema, {
        subscriberId,
        ...request,
      }),

    async newSubscriber(choice: ContextChoice, externalId: string): Promise<string> {
      const { upsertSubscriber } = subscribers.handlers;
      const created = await perform(db, choice, upsertSubscriber, UpsertSubscriberRequestSchema, { externalId });
      return created.subscriber!.id;
    },

    /** Inserts many subscribers in one statement; returns their ids. */
    async manySubscribers(tenantId: TenantId, count: number): Promise<string[]> {
      const ids = Array.from({ length: count }, () => ulid(Date.now()));
      await db.sql`
        insert into notification_subscribers (tenant_id, id, external_id, created_at, updated_at)
        select ${tenantId}, id, 'of ' || id, now(), now() from unnest(${ids}::text[]) as created(id)`;
      return ids;
    },
  };
}
