import type { Context } from "../../../chain/call.ts";
import { fail, invalid } from "../../../errors/index.ts";
import { notFound, requireFound, updateRefusal } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { newStamps } from "../../../platform/records/index.ts";
import type { EventContext, EventRecorder } from "../../operations/index.ts";
import type { Subscribers } from "../subscribers/index.ts";
import { orderedKeys, type Subscription } from "./domain/subscription.ts";
import type { Topic, TopicDetails } from "./domain/topic.ts";
import type { TopicImport } from "./domain/topic-import.ts";
import { type NewSubscription, subscriptionStore } from "./subscription-store.ts";
import { topicStore } from "./topic-store.ts";

/** The result of adding members. */
export type AddResult = Pick<TopicImport, "added" | "changed" | "unchanged">;

interface Dependencies {
  readonly events: EventRecorder;
  readonly subscribers: Pick<Subscribers, "find" | "resolveIds">;
  /** Ends the subscriptions of a deleted topic after the commit of the caller's transaction. */
  readonly endMembersLater: (context: EventContext, key: string) => Promise<void>;
}

/** Members that are removed together with their topic. A transaction with many changes delays all readers of streams. */
const removedMax = 5000;

export type TopicService = ReturnType<typeof createTopicService>;

export function createTopicService({ events, subscribers, endMembersLater }: Dependencies) {
  async function getTopic({ sql, tenantId }: Context, key: string): Promise<Topic> {
    return requireFound(await topicStore(sql).find(tenantId, key), "topic");
  }

  /** Locks a topic against deletion while its members change. */
  async function lockTopic({ sql, tenantId }: Context, key: string): Promise<Topic> {
    return requireFound(await topicStore(sql).lockShared(tenantId, key), "topic");
  }

  /** The id of an existing subscriber, active or not. */
  async function subscriberId({ sql, tenantId }: Context, id: string): Promise<string> {
    const subscriber = requireFound(await subscribers.find(sql, tenantId, id), "subscriber");
    return subscriber.id;
  }

  async function join(
    context: EventContext,
    topic: Topic,
    subscriberIds: readonly string[],
    contextKeys: readonly string[],
  ): Promise<NewSubscription[]> {
    const { sql, nowMs } = context;
    const members = subscriberIds.map((each) => ({ id: ulid(nowMs), subscriberId: each }));
    const joined = await subscriptionStore(sql).join(topic, members, orderedKeys(contextKeys), new Date(nowMs));
    if (joined.length > 0) {
      const changed = joined.filter((each) => each.changed).length;
      await events.record(context, "topic.members.added", topic.key, { count: joined.length - changed, changed });
    }
    return joined;
  }

  /** Adds subscribers by the names that they are known by. */
  async function addAll(
    context: EventContext,
    topic: Topic,
    names: readonly string[],
    known: ReadonlyMap<string, string>,
    contextKeys: readonly string[],
  ): Promise<AddResult> {
    // Keep the given order, because it is the order of the member list.
    const wanted = [...new Set(names.map((name) => known.get(name)!))];
    const joined = await join(context, topic, wanted, contextKeys);
    const changed = joined.filter((each) => each.changed).length;
    return { added: joined.length - changed, changed, unchanged: wanted.length - joined.length };
  }

  async function leave(context: Context, topic: Topic, subscriberIds: readonly string[]): Promise<Subscription[]> {
    const { sql, nowMs } = context;
    const store = subscriptionStore(sql);
    const ended = await store.leave(topic, subscriberIds, new Date(nowMs));
    if (ended.length < subscriberIds.length) {
      // A concurrent change of context keys starts a new subscription that the first statement could not see.
      const gone = new Set(ended.map((each) => each.subscriberId));
      const others = subscriberIds.filter((each) => !gone.has(each));
      ended.push(...(await store.leave(topic, others, new Date(nowMs))));
    }
    if (ended.length > 0) await events.record(context, "topic.members.removed", topic.key, { count: ended.length });
    return ended;
  }

  return {
    getTopic,
    subscriberId,

    async createTopic(context: Context, key: string, text: TopicDetails): Promise<Topic> {
      const { sql, tenantId, nowMs } = context;
      const topic = { ...text, tenantId, id: ulid(nowMs), key, ...newStamps(nowMs) };
      const created = await topicStore(sql).insert(topic);
      if (await subscriptionStore(sql).hasAny(created)) {
        throw fail("CONFLICT", {
          public: `The topic ${key} was deleted a moment ago, and its members are still being removed: retry.`,
        });
      }
      await events.record(context, "topic.created", key, { name: created.name });
      return created;
    },

    async updateTopic(context: Context, key: string, text: TopicDetails, expectedVersion: number | undefined) {
      const { sql, tenantId, nowMs } = context;
      const store = topicStore(sql);
      const changed = await store.update(tenantId, key, text, expectedVersion, new Date(nowMs));
      if (changed === undefined) throw updateRefusal(await store.find(tenantId, key), "topic");
      await events.record(context, "topic.updated", key, { name: changed.name });
      return changed;
    },

    async deleteTopic(context: Context, key: string): Promise<Topic> {
      const { sql, tenantId, nowMs } = context;
      const deleted = requireFound(await topicStore(sql).remove(tenantId, key), "topic");
      // A separate statement, so that it sees members who joined while the delete waited for its lock.
      const store = subscriptionStore(sql);
      const removed = await store.leaveDeleted(deleted, new Date(nowMs), removedMax);
      const left = removed < removedMax ? 0 : await store.count(deleted);
      if (left > 0) await endMembersLater(context, key);
      await events.record(context, "topic.deleted", key, { count: removed + left });
      return deleted;
    },

    async addSubscribers(context: Context, key: string, names: readonly string[], contextKeys: readonly string[]) {
      const { sql, tenantId } = context;
      const topic = await lockTopic(context, key);
      const known = await subscribers.resolveIds(sql, tenantId, names);
      const unknown = names.findIndex((name) => !known.has(name));
      if (unknown >= 0) {
        throw invalid(`subscriber_ids[${unknown}]`, "exists", "must be the id or external id of a subscriber");
      }
      return addAll(context, topic, names, known, contextKeys);
    },

    /** Adds the subscribers that exist to a locked topic; returns the names that belong to none. */
    async addKnown(context: EventContext, topic: Topic, names: readonly string[], contextKeys: readonly string[]) {
      const known = await subscribers.resolveIds(context.sql, context.tenantId, names);
      const [found, unknownNames] = [names.filter((name) => known.has(name)), names.filter((name) => !known.has(name))];
      return { ...(await addAll(context, topic, found, known, contextKeys)), unknownNames };
    },

    async removeSubscribers(context: Context, key: string, names: readonly string[]): Promise<number> {
      const { sql, tenantId } = context;
      const topic = await lockTopic(context, key);
      const known = await subscribers.resolveIds(sql, tenantId, names);
      return (await leave(context, topic, [...new Set(known.values())])).length;
    },

    /** Subscribes one subscriber to a topic. */
    async upsertSubscription(context: Context, id: string, key: string, contextKeys: readonly string[]) {
      const { sql, tenantId } = context;
      const subscribed = await subscriberId(context, id);
      const topic = await lockTopic(context, key);
      const [joined] = await join(context, topic, [subscribed], contextKeys);
      return joined ?? (await subscriptionStore(sql).find(tenantId, key, subscribed))!;
    },

    /** Unsubscribes one subscriber from a topic. */
    async deleteSubscription(context: Context, id: string, key: string): Promise<Subscription> {
      const unsubscribed = await subscriberId(context, id);
      const topic = await lockTopic(context, key);
      const [ended] = await leave(context, topic, [unsubscribed]);
      if (ended === undefined) throw notFound("subscription");
      return ended;
    },
  };
}
