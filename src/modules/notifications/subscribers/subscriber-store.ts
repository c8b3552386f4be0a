import type { TenantId } from "../../../platform/access/index.ts";
import type { Fragment, Sql } from "../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../platform/paging/index.ts";
import type { Profile, ProfileChange, Subscriber, SubscriberId } from "./domain/subscriber.ts";
import { suppressedAt } from "./suppressions/suppression-store.ts";

/** Filter of a subscriber list; an undefined field matches everything. */
export interface SubscriberFilter {
  readonly externalId: string | undefined;
  /** Case-insensitive. */
  readonly email: string | undefined;
  readonly active: boolean | undefined;
}

export function subscriberColumns(sql: Sql): Fragment {
  const tenantId = sql`notification_subscribers.tenant_id`;
  const email = { tenantId, channel: sql`'email'`, identity: sql`notification_subscribers.email` };
  const phone = { tenantId, channel: sql`'sms'`, identity: sql`notification_subscribers.phone` };
  return sql`
    tenant_id, id, external_id, first_name, last_name, email, phone, avatar, locale, timezone, data, active,
    ${suppressedAt(sql, email)} as email_suppressed_at, ${suppressedAt(sql, phone)} as phone_suppressed_at, created_at,
    updated_at, record_version`;
}

/** SQL queries for subscribers. Rows are never deleted; a deleted subscriber is inactive. */
export function subscriberStore(sql: Sql) {
  const columns = subscriberColumns(sql);
  return {
    /** Inserts a subscriber; undefined when its external id is already used. */
    async insert(
      tenantId: TenantId,
      { id, externalId }: Pick<Subscriber, "id" | "externalId">,
      profile: Profile,
      now: Date,
    ): Promise<Subscriber | undefined> {
      const [row] = await sql<Subscriber[]>`
        insert into notification_subscribers (tenant_id, id, external_id, first_name, last_name, email, phone, avatar, locale,
          timezone, data, created_at, updated_at)
        values (${tenantId}, ${id}, ${externalId}, ${profile.firstName}, ${profile.lastName}, ${profile.email},
          ${profile.phone}, ${profile.avatar}, ${profile.locale}, ${profile.timezone},
          ${sql.json(profile.data as never)}, ${now}, ${now})
        on conflict (tenant_id, external_id) do nothing
        returning ${columns}`;
      return row;
    },

    async find(tenantId: TenantId, id: string): Promise<Subscriber | undefined> {
      const [row] = await sql<Subscriber[]>`
        select ${columns} from notification_subscribers where tenant_id = ${tenantId} and id = ${id}`;
      return row;
    },

    async findByExternalId(tenantId: TenantId, externalId: string): Promise<Subscriber | undefined> {
      const [row] = await sql<Subscriber[]>`
        select ${columns} from notification_subscribers
        where tenant_id = ${tenantId} and external_id = ${externalId}`;
      return row;
    },

    async findMany(tenantId: TenantId, ids: readonly string[]): Promise<Subscriber[]> {
      return sql<Subscriber[]>`
        select ${columns} from notification_subscribers
        where tenant_id = ${tenantId} and id = any(${ids as string[]}::text[])`;
    },

    async idsByExternalId(
      tenantId: TenantId,
      externalIds: readonly string[],
    ): Promise<{ externalId: string; id: SubscriberId }[]> {
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

    /** Locks a subscriber and its endpoints against changes until the transaction ends. */
    async lock(tenantId: TenantId, id: string): Promise<Subscriber | undefined> {
      const [row] = await sql<Subscriber[]>`
        select ${columns} from notification_subscribers where tenant_id = ${tenantId} and id = ${id} for update`;
      return row;
    },

    /** Sets the given fields and, if wanted, activates the subscriber. */
    async merge(
      tenantId: TenantId,
      id: SubscriberId,
      change: ProfileChange,
      activate: boolean,
      now: Date,
    ): Promise<Subscriber> {
      const [row] = await sql<Subscriber[]>`
        update notification_subscribers set
          first_name = coalesce(${change.firstName ?? null}, first_name),
          last_name = coalesce(${change.lastName ?? null}, last_name),
          email = coalesce(${change.email ?? null}, email),
          phone = coalesce(${change.phone ?? null}, phone),
          avatar = coalesce(${change.avatar ?? null}, avatar),
          locale = coalesce(${change.locale ?? null}, locale),
          timezone = coalesce(${change.timezone ?? null}, timezone),
          data = coalesce(${change.data === undefined ? null : sql.json(change.data as never)}, data),
          email_set_at = case when ${change.email === undefined} then email_set_at else ${now} end,
          phone_set_at = case when ${change.phone === undefined} then phone_set_at else ${now} end,
          active = active or ${activate}, updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${tenantId} and id = ${id}
        returning ${columns}`;
      return row!;
    },

    /** Replaces the whole profile; undefined when the expected version is not current. */
    async replace(
      tenantId: TenantId,
      id: string,
      profile: Profile,
      expectedVersion: number | undefined,
      now: Date,
    ): Promise<Subscriber | undefined> {
      const [row] = await sql<Subscriber[]>`
        update notification_subscribers set
          first_name = ${profile.firstName}, last_name = ${profile.lastName}, email = ${profile.email},
          phone = ${profile.phone}, avatar = ${profile.avatar}, locale = ${profile.locale},
          timezone = ${profile.timezone}, data = ${sql.json(profile.data as never)},
          email_set_at = case when email = ${profile.email} then email_set_at else ${now} end,
          phone_set_at = case when phone = ${profile.phone} then phone_set_at else ${now} end,
          updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${tenantId} and id = ${id}
          and record_version = coalesce(${expectedVersion ?? null}::int, record_version)
        returning ${columns}`;
      return row;
    },

    /** Deactivates an active subscriber and revokes its tokens; undefined when there is none. */
    async deactivate(tenantId: TenantId, id: string, now: Date): Promise<Subscriber | undefined> {
      const [row] = await sql<Subscriber[]>`
        update notification_subscribers set active = false, token_revocations = token_revocations + 1,
          updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${tenantId} and id = ${id} and active
        returning ${columns}`;
      return row;
    },

    async list(
      tenantId: TenantId,
      { externalId, email, active }: SubscriberFilter,
      page: Page,
    ): Promise<PageRows<Subscriber>> {
      const where = sql`tenant_id = ${tenantId}
        ${externalId === undefined ? sql`` : sql`and external_id = ${externalId}`}
        ${email === undefined ? sql`` : sql`and email <> '' and lower(email) = lower(${email})`}`;
      const filter = active === undefined ? undefined : sql`active = ${active}`;
      const selection = { columns, table: "notification_subscribers", where, filter, newestFirst: true };
      return readKeyset<Subscriber>(sql, selection, page);
    },
  };
}
