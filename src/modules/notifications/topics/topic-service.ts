import type { Context } from "../../../chain/call.ts";
import { invalid } from "../../../errors/index.ts";
import { notFound, updateRefusal } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { newStamps } from "../../../platform/records/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { Subscribers } from "../subscribers/index.ts";
import { orderedKeys, type Subscription } from "./domain/subscription.ts";
import type { Topic, TopicText } from "./domain/topic.ts";
import { type Joined, subscriptionStore } from "./subscription-store.ts";
import { topicStore } from "./topic-store.ts";

/** What adding members came to. */
export interface Additions {
  readonly added: number;
  readonly changed: number;
  readonly unchanged: number;
}

interface Parts {
  readonly events: EventRecorder;
  readonly subscribers: Pick<Subscribers, "find" | "identify">;
}

/** The use cases of topics and of who is in them. */
export type TopicService = ReturnType<typeof createTopicService>;

/** Makes the use cases of topics and of who is in them. */
export function createTopicService({ events, subscribers }: Parts) {
  async function getTopic({ sql, tenantId }: Context, key: string): Promise<Topic> {
    const topic = await topicStore(sql).find(tenantId, key);
    if (topic === undefined) throw notFound("topic");
    return topic;
  }

  /** A topic whose members are to change: it is there until they have. */
  async function hold({ sql, tenantId }: Context, key: string): Promise<Topic> {
    const topic = await topicStore(sql).hold(tenantId, key);
    if (topic === undefined) throw notFound("topic");
    return topic;
  }

  /** The id of a subscriber that is there, active or not. */
  async function subscriberId({ sql, tenantId }: Context, id: string): Promise<string> {
    const subscriber = await subscribers.find(sql, tenantId, id);
    if (subscriber === undefined) throw notFound("subscriber");
    return subscriber.id;
  }

  async function join(
    context: Context,
    topic: Topic,
    subscriberIds: readonly string[],
    contextKeys: readonly string[],
  ): Promise<Joined[]> {
    const { sql, nowMs } = context;
    const members = subscriberIds.map((each) => ({ id: ulid(nowMs), subscriberId: each }));
    const joined = await subscriptionStore(sql).join(topic, members, orderedKeys(contextKeys), new Date(nowMs));
    if (joined.length > 0) {
      const changed = joined.filter((each) => each.changed).length;
      await events.record(context, "topic.members.added", topic.key, { count: joined.length - changed, changed });
    }
    return joined;
  }

  async function leave(context: Context, topic: Topic, subscriberIds: readonly string[]): Promise<Subscription[]> {
    const { sql, nowMs } = context;
    const store = subscriptionStore(sql);
    const ended = await store.leave(topic, subscriberIds, new Date(nowMs));
    if (ended.length < subscriberIds.length) {
      // Whose keys were being changed has a new stay when that is done, which the first look cannot have seen.
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

    async createTopic(context: Context, key: string, text: TopicText): Promise<Topic> {
      const { sql, tenantId, nowMs } = context;
      const topic = { ...text, tenantId, id: ulid(nowMs), key, ...newStamps(nowMs) };
      const created = await topicStore(sql).insert(topic);
      await events.record(context, "topic.created", key, { name: created.name });
      return created;
    },

    async updateTopic(
      context: Context,
      key: string,
      text: TopicText,
      expectedVersion: number | undefined,
    ): Promise<Topic> {
      const { sql, tenantId, nowMs } = context;
      const store = topicStore(sql);
      const changed = await store.update(tenantId, key, text, expectedVersion, new Date(nowMs));
      if (changed === undefined) throw updateRefusal(await store.find(tenantId, key), "topic");
      await events.record(context, "topic.updated", key, { name: changed.name });
      return changed;
    },

    async deleteTopic(context: Context, key: string): Promise<Topic> {
      const { sql, tenantId, nowMs } = context;
      const deleted = await topicStore(sql).remove(tenantId, key);
      if (deleted === undefined) throw notFound("topic");
      // In a statement of its own: it sees those who joined while the topic could not be deleted yet.
      const count = await subscriptionStore(sql).leaveAll(deleted, new Date(nowMs));
      await events.record(context, "topic.deleted", key, { count });
      return deleted;
    },

    async addSubscribers(
      context: Context,
      key: string,
      names: readonly string[],
      contextKeys: readonly string[],
    ): Promise<Additions> {
      const { sql, tenantId } = context;
      const topic = await hold(context, key);
      const known = await subscribers.identify(sql, tenantId, names);
      const unknown = names.findIndex((name) => !known.has(name));
      if (unknown >= 0) {
        throw invalid(`subscriber_ids[${unknown}]`, "exists", "is neither the id nor the external id of a subscriber");
      }
      // In the order given, which is the order of the list of members.
      const wanted = [...new Set(names.map((name) => known.get(name)!))];
      const joined = await join(context, topic, wanted, contextKeys);
      const changed = joined.filter((each) => each.changed).length;
      return { added: joined.length - changed, changed, unchanged: wanted.length - joined.length };
    },

    async removeSubscribers(context: Context, key: string, names: readonly string[]): Promise<number> {
      const { sql, tenantId } = context;
      const topic = await hold(context, key);
      const known = await subscribers.identify(sql, tenantId, names);
      return (await leave(context, topic, [...new Set(known.values())])).length;
    },

    /** Attaches one subscriber. */
    async upsertSubscription(
      context: Context,
      id: string,
      key: string,
      contextKeys: readonly string[],
    ): Promise<Subscription> {
      const { sql, tenantId } = context;
      const attached = await subscriberId(context, id);
      const topic = await hold(context, key);
      const [joined] = await join(context, topic, [attached], contextKeys);
      return joined ?? (await subscriptionStore(sql).find(tenantId, key, attached))!;
    },

    /** Detaches one subscriber. */
    async deleteSubscription(context: Context, id: string, key: string): Promise<Subscription> {
      const detached = await subscriberId(context, id);
      const topic = await hold(context, key);
      const [ended] = await leave(context, topic, [detached]);
      if (ended === undefined) throw notFound("subscription");
      return ended;
    },
  };
}
