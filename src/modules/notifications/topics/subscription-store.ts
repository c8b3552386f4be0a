import type { TenantId } from "../../../platform/access/index.ts";
import type { Fragment, Sql } from "../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../platform/paging/index.ts";
import type { Subscription, TopicMember } from "./domain/subscription.ts";

/** A stay that began, and whether the same subscriber's stay with other context keys ended for it. */
export interface Joined extends Subscription {
  readonly changed: boolean;
}

/** A topic whose members change in a transaction that holds it. */
export interface TopicName {
  readonly tenantId: TenantId;
  readonly key: string;
}

const table = "notification_subscriptions";

/**
 * The SQL of subscriptions. A row is one stay and never changes but to end: whoever comes back, or comes under other
 * context keys, gets a new one. Each says which transactions began and ended it, so that those who were members in a
 * snapshot can be told at any time after.
 */
export function subscriptionStore(sql: Sql) {
  const columns = sql`tenant_id, topic_key, id, subscriber_id, context_keys, created_at`;
  return {
    /** Has subscribers be members under these context keys; answers with the stays that began, and no others. */
    async join(
      { tenantId, key }: TopicName,
      members: readonly { readonly id: string; readonly subscriberId: string }[],
      contextKeys: readonly string[],
      now: Date,
    ): Promise<Joined[]> {
      const ids = members.map(({ id }) => id);
      const subscriberIds = members.map(({ subscriberId }) => subscriberId);
      // In the order of subscribers, so that nobody waits in a ring. Whoever has a stay under other keys ends it and begins
      // another; the unique index finds it, whatever the database thinks of the topic's size.
      return sql<Joined[]>`
        with member as (
          select * from unnest(${ids}::text[], ${subscriberIds}::text[]) as member(new_id, subscriber_id)
        ), arrived as (
          insert into notification_subscriptions as stay (tenant_id, topic_key, id, subscriber_id, context_keys, created_at)
          select ${tenantId}, ${key}, new_id, subscriber_id, ${contextKeys as string[]}::text[], ${now}::timestamptz
          from member order by subscriber_id collate "C"
          on conflict (tenant_id, topic_key, subscriber_id) where left_xid is null
          do update set left_xid = pg_current_xact_id(), left_at = ${now}
            where stay.context_keys <> excluded.context_keys
          returning ${columns}, left_xid is not null as ended
        ), changed as (
          insert into notification_subscriptions (tenant_id, topic_key, id, subscriber_id, context_keys, created_at)
          select tenant_id, topic_key, new_id, subscriber_id, ${contextKeys as string[]}::text[], ${now}::timestamptz
          from arrived join member using (subscriber_id) where ended
          returning ${columns}
        )
        select ${columns}, false as changed from arrived where not ended
        union all
        select ${columns}, true from changed`;
    },

    /** Ends the stays of subscribers; answers with those that ended. */
    async leave({ tenantId, key }: TopicName, subscriberIds: readonly string[], now: Date): Promise<Subscription[]> {
      // In the order of subscribers, so that nobody waits in a ring. Each is looked for by itself: for a list of them the
      // database might search the whole topic once a name.
      const inOrder = [...subscriberIds].sort();
      return sql<Subscription[]>`
        update notification_subscriptions set left_xid = pg_current_xact_id(), left_at = ${now}
        where ctid = any(array(
          select stay.place from unnest(${inOrder}::text[]) as member(subscriber_id)
          cross join lateral (
            select ctid as place from notification_subscriptions
            where tenant_id = ${tenantId} and topic_key = ${key} and subscriber_id = member.subscriber_id
              and left_xid is null
            limit 1 for update) stay))
        returning ${columns}`;
    },

    /** Ends every stay in a topic; answers how many. */
    async leaveAll({ tenantId, key }: TopicName, now: Date): Promise<number> {
      const ended = await sql`
        update notification_subscriptions set left_xid = pg_current_xact_id(), left_at = ${now}
        where tenant_id = ${tenantId} and topic_key = ${key} and left_xid is null`;
      return ended.count;
    },

    async find(tenantId: TenantId, key: string, subscriberId: string): Promise<Subscription | undefined> {
      const [row] = await sql<Subscription[]>`
        select ${columns} from notification_subscriptions
        where tenant_id = ${tenantId} and topic_key = ${key} and subscriber_id = ${subscriberId} and left_xid is null`;
      return row;
    },

    /** The members of a topic, in the order of their stays. */
    async ofTopic(tenantId: TenantId, key: string, page: Page): Promise<PageRows<Subscription>> {
      const where = sql`tenant_id = ${tenantId} and topic_key = ${key} and left_xid is null`;
      return readKeyset<Subscription>(sql, { columns, table, where }, page);
    },

    /** The topics of a subscriber, in the order of their keys. */
    async ofSubscriber(tenantId: TenantId, subscriberId: string, page: Page): Promise<PageRows<Subscription>> {
      const where = sql`tenant_id = ${tenantId} and subscriber_id = ${subscriberId} and left_xid is null`;
      return readKeyset<Subscription>(sql, { columns, table, where, key: "topic_key" }, page);
    },

    /** What the database takes for committed at this moment. */
    async snapshot(): Promise<string> {
      const [row] = await sql<{ snapshot: string }[]>`select pg_current_snapshot()::text as snapshot`;
      return row!.snapshot;
    },

    /** Those who were members in a snapshot, in the order of their stays. */
    async membersAt(
      tenantId: TenantId,
      key: string,
      snapshot: string,
      afterId: string,
      limit: number,
    ): Promise<TopicMember[]> {
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

    /** Removes what ended before a moment, of all tenants, a bite at a time; answers how many. */
    async forget(before: Date, limit: number): Promise<number> {
      const gone = await sql`
        delete from notification_subscriptions where ctid = any(array(
          select ctid from notification_subscriptions where left_at < ${before} order by left_at limit ${limit}))`;
      return gone.count;
    },
  };

  /** Began in the snapshot, and did not end in it: what was under way then had done neither. */
  function wasMember(snapshot: string): Fragment {
    return sql`pg_visible_in_snapshot(joined_xid, ${snapshot}::pg_snapshot)
      and (left_xid is null or not pg_visible_in_snapshot(left_xid, ${snapshot}::pg_snapshot))`;
  }
}
