import type { TenantId } from "../../../platform/access/index.ts";
import { type Fragment, joinSelected, type Sql } from "../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../platform/paging/index.ts";
import type { Subscription, TopicMember } from "./domain/subscription.ts";

const primaryKey = ["tenant_id", "topic_key", "id"];

/** A new subscription, and whether it replaces one of the same subscriber with other context keys. */
export interface NewSubscription extends Subscription {
  readonly changed: boolean;
}

/** A topic whose members change in a transaction that has locked it. */
export interface TopicName {
  readonly tenantId: TenantId;
  readonly key: string;
}

const table = "notification_subscriptions";

/**
 * SQL queries for subscriptions. A row is one membership and changes only when it ends: a member that rejoins, or gets
 * other context keys, gets a new row. Each row records the transactions that started and ended it, so the members in a
 * snapshot can be determined later.
 */
export function subscriptionStore(sql: Sql) {
  const columns = sql`tenant_id, topic_key, id, subscriber_id, context_keys, created_at`;
  return {
    /** Makes subscribers members with these context keys; returns the subscriptions that started. */
    async join(
      { tenantId, key }: TopicName,
      members: readonly { readonly id: string; readonly subscriberId: string }[],
      contextKeys: readonly string[],
      now: Date,
    ): Promise<NewSubscription[]> {
      const ids = members.map(({ id }) => id);
      const subscriberIds = members.map(({ subscriberId }) => subscriberId);
      // Lock in subscriber order to avoid deadlocks. A subscription with other keys ends and a new one starts; the conflict
      // clause finds it by the unique index, independent of the planner's estimate of the topic's size.
      return sql<NewSubscription[]>`
        with member as (
          select * from unnest(${ids}::text[], ${subscriberIds}::text[]) as member(new_id, subscriber_id)
        ), joined as (
          insert into notification_subscriptions as subscription (tenant_id, topic_key, id, subscriber_id, context_keys, created_at)
          select ${tenantId}, ${key}, new_id, subscriber_id, ${contextKeys as string[]}::text[], ${now}::timestamptz
          from member order by subscriber_id collate "C"
          on conflict (tenant_id, topic_key, subscriber_id) where left_stamp is null
          do update set left_stamp = current_stamp(), left_at = ${now}
            where subscription.context_keys <> excluded.context_keys
          returning ${columns}, left_stamp is not null as ended
        ), changed as (
          insert into notification_subscriptions (tenant_id, topic_key, id, subscriber_id, context_keys, created_at)
          select tenant_id, topic_key, new_id, subscriber_id, ${contextKeys as string[]}::text[], ${now}::timestamptz
          from joined join member using (subscriber_id) where ended
          returning ${columns}
        )
        select ${columns}, false as changed from joined where not ended
        union all
        select ${columns}, true from changed`;
    },

    /** Ends subscriptions of subscribers; returns those that ended. */
    async leave({ tenantId, key }: TopicName, subscriberIds: readonly string[], now: Date): Promise<Subscription[]> {
      // Lock in subscriber order to avoid deadlocks. The lateral join looks up each subscriber by index; with a list the
      // planner might scan the whole topic.
      const inOrder = [...subscriberIds].sort();
      const current = sql`
        from unnest(${inOrder}::text[]) as member(subscriber_id)
        cross join lateral (
          select tenant_id, topic_key, id from notification_subscriptions
          where tenant_id = ${tenantId} and topic_key = ${key} and subscriber_id = member.subscriber_id
            and left_stamp is null
          limit 1 for update) subscription`;
      return sql<Subscription[]>`
        update notification_subscriptions set left_stamp = current_stamp(), left_at = ${now}
        from ${joinSelected(sql, "notification_subscriptions", current, primaryKey)}
        returning ${columns}`;
    },

    /** Ends up to `limit` subscriptions of a deleted topic; returns their number. */
    async leaveDeleted({ tenantId, key }: TopicName, now: Date, limit: number): Promise<number> {
      const current = sql`
        from notification_subscriptions
        where tenant_id = ${tenantId} and topic_key = ${key} and left_stamp is null
          and not exists (select from notification_topics where tenant_id = ${tenantId} and key = ${key})
        limit ${limit} for update`;
      const ended = await sql`
        update notification_subscriptions set left_stamp = current_stamp(), left_at = ${now}
        from ${joinSelected(sql, "notification_subscriptions", current, primaryKey)}`;
      return ended.count;
    },

    /** The number of current subscriptions of a topic. */
    async count({ tenantId, key }: TopicName): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from notification_subscriptions
        where tenant_id = ${tenantId} and topic_key = ${key} and left_stamp is null`;
      return row!.count;
    },

    /** Whether a topic has current subscriptions. */
    async hasAny({ tenantId, key }: TopicName): Promise<boolean> {
      const found = await sql`
        select from notification_subscriptions
        where tenant_id = ${tenantId} and topic_key = ${key} and left_stamp is null limit 1`;
      return found.length > 0;
    },

    find: (tenantId: TenantId, key: string, subscriberId: string) =>
      sql<Subscription[]>`
        select ${columns} from notification_subscriptions
        where tenant_id = ${tenantId} and topic_key = ${key} and subscriber_id = ${subscriberId} and left_stamp is null`.first(),

    /** The current subscriptions of a topic, ordered by id. */
    async ofTopic(tenantId: TenantId, key: string, page: Page): Promise<PageRows<Subscription>> {
      const where = sql`tenant_id = ${tenantId} and topic_key = ${key} and left_stamp is null`;
      return readKeyset<Subscription>(sql, { columns, table, where }, page);
    },

    /** The current subscriptions of a subscriber, ordered by topic key. Those of a large topic outlive it for a while. */
    async ofSubscriber(tenantId: TenantId, subscriberId: string, page: Page): Promise<PageRows<Subscription>> {
      const where = sql`tenant_id = ${tenantId} and subscriber_id = ${subscriberId} and left_stamp is null and exists (
        select from notification_topics topic
        where topic.tenant_id = ${tenantId} and topic.key = notification_subscriptions.topic_key)`;
      return readKeyset<Subscription>(sql, { columns, table, where, key: "topic_key" }, page);
    },

    /** The database's current snapshot. */
    async snapshot(): Promise<string> {
      const [row] = await sql<{ snapshot: string }[]>`select stamp_snapshot() as snapshot`;
      return row!.snapshot;
    },

    /** The members in a snapshot, ordered by subscription id. */
    async membersAt(tenantId: TenantId, key: string, snapshot: string, afterId: string, limit: number) {
      return sql<TopicMember[]>`
        select id, subscriber_id, context_keys from notification_subscriptions
        where tenant_id = ${tenantId} and topic_key = ${key} and id > ${afterId} and ${wasMember(snapshot)}
        order by id limit ${limit}`;
    },

    async countAt(tenantId: TenantId, key: string, snapshot: string): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from notification_subscriptions
        where tenant_id = ${tenantId} and topic_key = ${key} and ${wasMember(snapshot)}`;
      return row!.count;
    },
  };

  /** Started in the snapshot and not ended in it; changes of transactions open at that time do not count. */
  function wasMember(snapshot: string): Fragment {
    return sql`txid_visible_in_snapshot(joined_stamp, ${snapshot}::txid_snapshot)
      and (left_stamp is null or not txid_visible_in_snapshot(left_stamp, ${snapshot}::txid_snapshot))`;
  }
}
