import type { TenantId } from "../../../platform/access/index.ts";
import type { Fragment, Sql } from "../../../platform/db/index.ts";
import type { Page } from "../../../platform/paging/index.ts";
import { recordTable } from "../../../platform/records/index.ts";
import type { Profile, ProfileChange, Subscriber, SubscriberId } from "./domain/subscriber.ts";
import { suppressedAt } from "./suppressions/suppression-store.ts";

/** Filter of a subscriber list; an undefined field matches everything. */
export interface SubscriberFilter {
  readonly externalId: string | undefined;
  /** Case-insensitive. */
  readonly email: string | undefined;
  readonly active: boolean | undefined;
}

/** A subscriber to insert. */
type NewSubscriber = Profile & Pick<Subscriber, "tenantId" | "id" | "externalId" | "createdAt" | "updatedAt">;

/** The times from which addresses are known. */
interface AddressTimes {
  readonly emailSetAt: Date | null;
  readonly phoneSetAt: Date | null;
}

const subscribers = recordTable<Subscriber, AddressTimes, NewSubscriber>("notification_subscribers", {
  fixed: "tenant_id id external_id created_at",
  mutable: "first_name last_name email phone avatar locale timezone data active updated_at record_version",
  internal: "email_set_at phone_set_at",
  computed: (sql) => {
    const tenantId = sql`notification_subscribers.tenant_id`;
    const email = { tenantId, channel: sql`'email'`, identity: sql`notification_subscribers.email` };
    const phone = { tenantId, channel: sql`'sms'`, identity: sql`notification_subscribers.phone` };
    return sql`${suppressedAt(sql, email)} as email_suppressed_at, ${suppressedAt(sql, phone)} as phone_suppressed_at`;
  },
});

export function subscriberColumns(sql: Sql): Fragment {
  return subscribers(sql).columns;
}

/** SQL queries for subscribers. Rows are never deleted; a deleted subscriber is inactive. */
export function subscriberStore(sql: Sql) {
  const { columns, insertUnlessTaken, find, lock, update, set, listWhere } = subscribers(sql);
  return {
    find,
    /** Locks a subscriber and its endpoints against changes until the transaction ends. */
    lock,

    /** Inserts a subscriber; undefined when its external id is already used. */
    insert: (
      tenantId: TenantId,
      { id, externalId }: Pick<Subscriber, "id" | "externalId">,
      profile: Profile,
      now: Date,
    ) => insertUnlessTaken({ ...profile, tenantId, id, externalId, createdAt: now, updatedAt: now }),

    findByExternalId: (tenantId: TenantId, externalId: string) =>
      sql<Subscriber[]>`
        select ${columns} from notification_subscribers
        where tenant_id = ${tenantId} and external_id = ${externalId}`.first(),

    async findMany(tenantId: TenantId, ids: readonly string[]): Promise<Subscriber[]> {
      return sql<Subscriber[]>`
        select ${columns} from notification_subscribers
        where tenant_id = ${tenantId} and id = any(${ids as string[]}::text[])`;
    },

    async idsByExternalId(tenantId: TenantId, externalIds: readonly string[]) {
      return sql<{ externalId: string; id: SubscriberId }[]>`
        select external_id, id from notification_subscribers
        where tenant_id = ${tenantId} and external_id = any(${externalIds as string[]}::text[])`;
    },

    /** The subscriber of each name, by id or external id; unknown names are omitted. */
    async resolveIds(tenantId: TenantId, names: readonly string[]): Promise<{ name: string; id: SubscriberId }[]> {
      // Matches by id come last, so they win when a name is both an id and another subscriber's external id.
      return sql<{ name: string; id: SubscriberId }[]>`
        select external_id as name, id, false as by_id from notification_subscribers
        where tenant_id = ${tenantId} and external_id = any(${names as string[]}::text[])
        union all
        select id as name, id, true from notification_subscribers
        where tenant_id = ${tenantId} and id = any(${names as string[]}::text[])
        order by by_id`;
    },

    /** Sets the given fields and, if wanted, activates the subscriber. */
    async merge(tenantId: TenantId, id: SubscriberId, change: ProfileChange, activate: boolean, now: Date) {
      const active = activate || undefined;
      const emailSetAt = change.email === undefined ? undefined : now;
      const phoneSetAt = change.phone === undefined ? undefined : now;
      return (await update(tenantId, id, { ...change, active, emailSetAt, phoneSetAt }, undefined, now))!;
    },

    /** Replaces the whole profile; undefined when the expected version is not current. */
    replace: (tenantId: TenantId, id: string, profile: Profile, expectedVersion: number | undefined, now: Date) =>
      set(
        tenantId,
        id,
        now,
        sql`first_name = ${profile.firstName}, last_name = ${profile.lastName}, email = ${profile.email},
          phone = ${profile.phone}, avatar = ${profile.avatar}, locale = ${profile.locale},
          timezone = ${profile.timezone}, data = ${sql.json(profile.data as never)},
          email_set_at = case when email = ${profile.email} then email_set_at else ${now} end,
          phone_set_at = case when phone = ${profile.phone} then phone_set_at else ${now} end`,
        sql`record_version = coalesce(${expectedVersion ?? null}::int, record_version)`,
      ),

    /** Deactivates an active subscriber and revokes its tokens; undefined when there is none. */
    deactivate: (tenantId: TenantId, id: string, now: Date) =>
      set(tenantId, id, now, sql`active = false, token_revocations = token_revocations + 1`, sql`active`),

    list: (tenantId: TenantId, { externalId, email, active }: SubscriberFilter, page: Page) =>
      listWhere(tenantId, { externalId }, page, {
        where: email === undefined ? undefined : sql`email <> '' and lower(email) = lower(${email})`,
        filter: active === undefined ? undefined : sql`active = ${active}`,
        newestFirst: true,
      }),
  };
}
