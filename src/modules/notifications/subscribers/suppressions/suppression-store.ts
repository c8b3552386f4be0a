import type { TenantId } from "../../../../platform/access/index.ts";
import type { Fragment, Sql } from "../../../../platform/db/index.ts";
import type { Page } from "../../../../platform/paging/index.ts";
import { recordTable } from "../../../../platform/records/index.ts";
import type { Suppression, UsedAddress } from "./domain/suppression.ts";

/** The channels whose addresses can be suppressed. */
const addressChannels: readonly Suppression["channel"][] = ["email", "sms", "push", "chat"];

/** Filter of a list of suppressions; an undefined field matches everything. */
export interface SuppressionFilter {
  readonly channel: string | undefined;
  readonly identity: string | undefined;
  readonly reason: string | undefined;
}

/** The columns that hold an address, with the name of their table. */
interface AddressColumns {
  readonly tenantId: Fragment;
  readonly channel: Fragment;
  readonly identity: Fragment;
}

/** Since when an address is suppressed, as a column of a query for the address; null while it is in use. */
export function suppressedAt(sql: Sql, { tenantId, channel, identity }: AddressColumns): Fragment {
  return sql`(
    select suppression.created_at from notification_suppressions suppression
    where suppression.tenant_id = ${tenantId} and suppression.channel = ${channel}
      and suppression.identity = suppression_identity(${channel}, ${identity}))`;
}

const suppressions = recordTable<Suppression>("notification_suppressions", {
  fixed: "tenant_id id channel identity reason note delivery_id provider_key created_at",
});

export function suppressionStore(sql: Sql) {
  const { columns, find, remove, listWhere } = suppressions(sql);
  return {
    find,
    remove,

    /** Inserts a suppression; undefined if the address is already suppressed. */
    insert(suppression: Suppression): Promise<Suppression | undefined> {
      const { tenantId, id, channel, identity, reason, note, deliveryId, providerKey, createdAt } = suppression;
      return sql<Suppression[]>`
        insert into notification_suppressions (${columns})
        values (${tenantId}, ${id}, ${channel}, suppression_identity(${channel}, ${identity}), ${reason}, ${note},
          ${deliveryId}, ${providerKey}, ${createdAt})
        on conflict (tenant_id, channel, identity) do nothing
        returning ${columns}`.first();
    },

    /**
     * Suppresses the addresses of endpoints and profiles; returns the new suppressions. If the address of a profile is not
     * given, it counts only if it has not changed since it was used. Rows are inserted in the order of their key to avoid
     * deadlocks.
     */
    async insertUsed(tenantId: TenantId, addresses: readonly (UsedAddress & { readonly id: string })[], now: Date) {
      const rows = addresses.map((each) => ({
        id: each.id,
        endpoint_id: each.endpointId,
        subscriber_id: each.subscriberId,
        channel: each.channel,
        identity: "identity" in each.used ? each.used.identity : "",
        used_at: "at" in each.used ? each.used.at : null,
        reason: each.reason,
        delivery_id: each.deliveryId,
        provider_key: each.providerKey,
      }));
      return sql<Suppression[]>`
        with input as (
          select * from json_to_recordset(${JSON.stringify(rows)}::text::json) as input(id text, endpoint_id text,
            subscriber_id text, channel text, identity text, used_at timestamptz, reason text, delivery_id text, provider_key text)
        ), used as (
          select id, channel, identity, reason, delivery_id, provider_key from input where identity <> ''
          union all
          select input.id, endpoint.channel, endpoint.identity, input.reason, input.delivery_id, input.provider_key
          from input join notification_endpoints endpoint
            on endpoint.tenant_id = ${tenantId} and endpoint.id = input.endpoint_id
          where input.identity = ''
          union all
          select input.id, input.channel, case input.channel when 'email' then email else phone end,
            input.reason, input.delivery_id, input.provider_key
          from input join notification_subscribers subscriber
            on subscriber.tenant_id = ${tenantId} and subscriber.id = input.subscriber_id
          where input.identity = '' and input.endpoint_id = '' and input.channel in ('email', 'sms')
            and coalesce(case input.channel when 'email' then email_set_at else phone_set_at end, '-infinity')
              <= input.used_at
        )
        insert into notification_suppressions (${columns})
        select distinct on (channel, suppression_identity(channel, identity)) ${tenantId}, id, channel,
          suppression_identity(channel, identity), reason, '', delivery_id, provider_key, ${now}
        from used where identity <> '' and channel <> 'in_app'
        order by channel, suppression_identity(channel, identity), id
        on conflict (tenant_id, channel, identity) do nothing
        returning ${columns}`;
    },

    /** Since when an address is suppressed; null while it is in use. */
    async findTime(tenantId: TenantId, channel: string, identity: string): Promise<Date | null> {
      const [row] = await sql<{ createdAt: Date }[]>`
        select created_at from notification_suppressions
        where tenant_id = ${tenantId} and channel = ${channel}
          and identity = suppression_identity(${channel}, ${identity})`;
      return row?.createdAt ?? null;
    },

    /** The addresses of a channel that are suppressed, among the given ones, and since when. */
    async findTimes(
      tenantId: TenantId,
      channel: string,
      identities: readonly string[],
    ): Promise<ReadonlyMap<string, Date>> {
      const rows = await sql<{ identity: string; createdAt: Date }[]>`
        select given.identity, created_at from unnest(${identities as string[]}::text[]) as given(identity)
        join notification_suppressions suppression on tenant_id = ${tenantId} and channel = ${channel}
          and suppression.identity = suppression_identity(${channel}, given.identity)`;
      return new Map(rows.map(({ identity, createdAt }) => [identity, createdAt]));
    },

    /** Removes the suppression of a token that a provider did not reach; undefined if there is none. */
    removeUnreachable: (tenantId: TenantId, channel: string, identity: string) =>
      sql<Suppression[]>`
        delete from notification_suppressions
        where tenant_id = ${tenantId} and channel = ${channel}
          and identity = suppression_identity(${channel}, ${identity}) and reason in ('bounced', 'unreachable')
        returning ${columns}`.first(),

    list(tenantId: TenantId, { channel, identity, reason }: SuppressionFilter, page: Page) {
      const channels = channel === undefined ? addressChannels : [channel];
      const ofChannel = channel === undefined ? undefined : sql`channel = ${channel}`;
      // One index lookup per channel. The index cannot find a value that is computed from the row's own channel.
      const ofAddress = (address: string) => sql`(channel, identity) in (
        select given, suppression_identity(given, ${address}) from unnest(${channels as string[]}::text[]) as given)`;
      const where = identity === undefined ? ofChannel : ofAddress(identity);
      const filter = reason === undefined ? undefined : sql`reason = ${reason}`;
      return listWhere(tenantId, {}, page, { where, filter, newestFirst: true });
    },
  };
}
