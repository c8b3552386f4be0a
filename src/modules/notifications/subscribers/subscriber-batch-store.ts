import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { Profile, ProfileChange, Subscriber, SubscriberId } from "./domain/subscriber.ts";
import { subscriberColumns } from "./subscriber-store.ts";

/** A subscriber to insert. */
export interface NewSubscriber {
  readonly id: SubscriberId;
  readonly externalId: string;
  readonly profile: Profile;
}

/** A change of a subscriber, which also activates it. */
export interface SubscriberChange {
  readonly id: SubscriberId;
  readonly change: ProfileChange;
}

/** SQL queries for many subscribers at once: one statement each. */
export function subscriberBatchStore(sql: Sql) {
  const columns = subscriberColumns(sql);
  return {
    /** Subscribers by external id, active or not; unknown external ids are omitted. */
    async findByExternalIds(tenantId: TenantId, externalIds: readonly string[]): Promise<Subscriber[]> {
      return sql<Subscriber[]>`
        select ${columns} from notification_subscribers
        where tenant_id = ${tenantId} and external_id = any(${externalIds as string[]}::text[])`;
    },

    /** Locks subscribers by external id against changes until the transaction ends, in their order to avoid deadlocks. */
    async lockByExternalIds(tenantId: TenantId, externalIds: readonly string[]): Promise<Subscriber[]> {
      return sql<Subscriber[]>`
        select ${columns} from notification_subscribers
        where tenant_id = ${tenantId} and external_id = any(${externalIds as string[]}::text[])
        order by external_id collate "C" for update`;
    },

    /** Inserts subscribers; returns the external ids of those that were inserted. The others are already used. */
    async insert(tenantId: TenantId, subscribers: readonly NewSubscriber[], now: Date): Promise<ReadonlySet<string>> {
      const rows = subscribers.map(({ id, externalId, profile }) => ({
        id,
        external_id: externalId,
        ...columnsOf(profile),
      }));
      const inserted = await sql<{ externalId: string }[]>`
        insert into notification_subscribers (tenant_id, id, external_id, first_name, last_name, email, phone, avatar, locale,
          timezone, data, created_at, updated_at)
        select ${tenantId}, id, external_id, first_name, last_name, email, phone, avatar, locale, timezone, data, ${now}, ${now}
        from json_to_recordset(${JSON.stringify(rows)}::text::json) as item(
          id text, external_id text, first_name text, last_name text, email text, phone text, avatar text, locale text,
          timezone text, data jsonb)
        order by external_id collate "C"
        on conflict (tenant_id, external_id) do nothing
        returning external_id`;
      return new Set(inserted.map(({ externalId }) => externalId));
    },

    /** Sets the given fields and activates the subscribers. */
    async merge(tenantId: TenantId, changes: readonly SubscriberChange[], now: Date): Promise<void> {
      const rows = changes.map(({ id, change }) => ({ id, ...columnsOf(change) }));
      await sql`
        update notification_subscribers as subscriber set
          first_name = coalesce(item.first_name, subscriber.first_name),
          last_name = coalesce(item.last_name, subscriber.last_name),
          email = coalesce(item.email, subscriber.email),
          phone = coalesce(item.phone, subscriber.phone),
          avatar = coalesce(item.avatar, subscriber.avatar),
          locale = coalesce(item.locale, subscriber.locale),
          timezone = coalesce(item.timezone, subscriber.timezone),
          data = coalesce(item.data, subscriber.data),
          email_set_at = case when item.email is null then email_set_at else ${now} end,
          phone_set_at = case when item.phone is null then phone_set_at else ${now} end,
          active = true, updated_at = ${now}, record_version = record_version + 1
        from json_to_recordset(${JSON.stringify(rows)}::text::json) as item(
          id text, first_name text, last_name text, email text, phone text, avatar text, locale text, timezone text,
          data jsonb)
        where subscriber.tenant_id = ${tenantId} and subscriber.id = item.id`;
    },
  };
}

function columnsOf({ firstName, lastName, email, phone, avatar, locale, timezone, data }: ProfileChange) {
  return { first_name: firstName, last_name: lastName, email, phone, avatar, locale, timezone, data };
}
