import type { TenantId } from "../../../platform/access/index.ts";
import type { Fragment, Sql } from "../../../platform/db/index.ts";
import type { Aggregation, Meter } from "./domain/meter.ts";
import type { UsageRecord } from "./domain/usage.ts";

/** A time range without its end. */
export interface Range {
  readonly from: Date;
  readonly until: Date;
}

/** The aggregated usage of a meter. */
export interface Aggregate {
  readonly quantity: bigint;
  readonly events: bigint;
}

/** The aggregated usage of one combination of properties. */
export interface GroupAggregate extends Aggregate {
  readonly dimensions: Readonly<Record<string, string>>;
}

/** The number of groups that a breakdown shows at most. */
const groupsMax = 1000;

/** The SQL queries of meters. They belong to the platform tenant. */
export function meterStore(sql: Sql) {
  const columns = sql`
    key, name, aggregation, value_path, group_by, status, false as service_fed, created_at, updated_at, record_version`;
  return {
    async insert(tenantId: TenantId, meter: Meter): Promise<Meter> {
      const [row] = await sql<Meter[]>`
        insert into billing_meters (tenant_id, key, name, aggregation, value_path, group_by, status, created_at, updated_at)
        values (${tenantId}, ${meter.key}, ${meter.name}, ${meter.aggregation}, ${meter.valuePath},
          ${meter.groupBy as string[]}::text[], ${meter.status}, ${meter.createdAt}, ${meter.updatedAt})
        returning ${columns}`;
      return row!;
    },

    /** All meters, by key. Their number is bounded. */
    async list(tenantId: TenantId): Promise<Meter[]> {
      return sql<Meter[]>`select ${columns} from billing_meters where tenant_id = ${tenantId} order by key`;
    },

    async archive(tenantId: TenantId, key: string, now: Date): Promise<Meter | undefined> {
      const [row] = await sql<Meter[]>`
        update billing_meters set status = 'archived', updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${tenantId} and key = ${key} and status = 'active'
        returning ${columns}`;
      return row;
    },
  };
}

/** The SQL queries of usage. */
export function usageStore(sql: Sql) {
  const aggregateOf = (aggregation: Aggregation) =>
    ({
      sum: sql`coalesce(sum(quantity), 0)::text`,
      count: sql`count(*)::text`,
      max: sql`coalesce(max(quantity), 0)::text`,
      last: sql`coalesce((array_agg(quantity order by at desc, recorded_at desc, transaction_id desc))[1], 0)::text`,
      unique_count: sql`count(distinct value)::text`,
    })[aggregation];
  const within = (tenantId: TenantId, key: string, { from, until }: Range) =>
    sql`tenant_id = ${tenantId} and meter_key = ${key} and at >= ${from} and at < ${until}`;
  return {
    /** Adds usage that is not recorded yet; returns the number of added rows. Callers sort by meter and transaction id. */
    async insert(tenantId: TenantId, records: readonly UsageRecord[], now: Date): Promise<number> {
      const added = await sql`
        insert into billing_usage (tenant_id, meter_key, transaction_id, at, quantity, value, dimensions, recorded_at)
        select ${tenantId}, meter_key, transaction_id, at, quantity, value, dimensions::jsonb, ${now}::timestamptz
        from unnest(
          ${records.map((each) => each.meterKey)}::text[], ${records.map((each) => each.transactionId)}::text[],
          ${records.map((each) => each.at.toISOString())}::timestamptz[], ${records.map((each) => String(each.quantity))}::bigint[],
          ${records.map((each) => each.value)}::text[], ${records.map((each) => JSON.stringify(each.dimensions))}::text[]
        ) as input(meter_key, transaction_id, at, quantity, value, dimensions)
        on conflict (tenant_id, meter_key, transaction_id) do nothing`;
      return added.count;
    },

    /** Which of some records exist, as `meter key/transaction id`. */
    async findRecorded(
      tenantId: TenantId,
      records: readonly Pick<UsageRecord, "meterKey" | "transactionId">[],
    ): Promise<ReadonlySet<string>> {
      const rows = await sql<{ meterKey: string; transactionId: string }[]>`
        select meter_key, transaction_id from billing_usage
        where tenant_id = ${tenantId} and (meter_key, transaction_id) in (
          select * from unnest(${records.map((each) => each.meterKey)}::text[],
            ${records.map((each) => each.transactionId)}::text[]))`;
      return new Set(rows.map(identityOf));
    },

    async aggregate(tenantId: TenantId, meter: Meter, range: Range): Promise<Aggregate> {
      if (meter.serviceFed) return serviceUsageStore(sql).aggregate(tenantId, meter, range);
      const { key, aggregation } = meter;
      const [row] = await sql<{ quantity: string; events: string }[]>`
        select ${aggregateOf(aggregation)} as quantity, count(*)::text as events from billing_usage
        where ${within(tenantId, key, range)}`;
      return { quantity: BigInt(row!.quantity), events: BigInt(row!.events) };
    },

    /** The usage of meters with one aggregation in ranges, in the given order. All or none are fed by the service. */
    async aggregateMany(tenantId: TenantId, wanted: readonly (Range & { readonly meter: Meter })[]): Promise<bigint[]> {
      const { serviceFed, aggregation } = wanted[0]!.meter;
      const aggregate = serviceFed ? serviceAggregate(sql, aggregation) : aggregateOf(aggregation);
      const [table, time] = serviceFed ? ["billing_service_usage", "window_start"] : ["billing_usage", "at"];
      const rows = await sql<{ quantity: string }[]>`
        select found.quantity from unnest(${wanted.map(({ meter }) => meter.key)}::text[],
          ${wanted.map(({ from }) => from.toISOString())}::timestamptz[],
          ${wanted.map(({ until }) => until.toISOString())}::timestamptz[]) with ordinality
          as wanted(key, since, until, nth)
        cross join lateral (
          select ${aggregate} as quantity from ${sql(table!)}
          where tenant_id = ${tenantId} and meter_key = wanted.key
            and ${sql(time!)} >= wanted.since and ${sql(time!)} < wanted.until) found
        order by wanted.nth`;
      return rows.map(({ quantity }) => BigInt(quantity));
    },

    async aggregateGroups(tenantId: TenantId, { key, aggregation }: Meter, range: Range): Promise<GroupAggregate[]> {
      const rows = await sql<{ dimensions: Record<string, string>; quantity: string; events: string }[]>`
        select dimensions, ${aggregateOf(aggregation)} as quantity, count(*)::text as events from billing_usage
        where ${within(tenantId, key, range)}
        group by dimensions order by dimensions limit ${groupsMax}`;
      return rows.map((row) => ({ ...row, quantity: BigInt(row.quantity), events: BigInt(row.events) }));
    },

    /** Deletes up to `limit` rows of usage before a time; returns the count. */
    async deleteExpired(before: Date, limit: number): Promise<number> {
      const deleted = await sql`
        delete from billing_usage where ctid = any(array(
          select ctid from billing_usage where at < ${before} limit ${limit}))`;
      return deleted.count;
    },
  };
}

/** The SQL queries of usage that the service counts itself. */
export function serviceUsageStore(sql: Sql) {
  return {
    /** Sets the usage of many tenants in one window. A repeated count replaces the earlier one. */
    async setMany(
      meterKey: string,
      windowStart: Date,
      usage: readonly { readonly tenantId: TenantId; readonly quantity: number }[],
    ): Promise<void> {
      await sql`
        insert into billing_service_usage as known (tenant_id, meter_key, window_start, quantity)
        select tenant_id, ${meterKey}, ${windowStart}::timestamptz, quantity
        from unnest(${usage.map((each) => each.tenantId)}::text[], ${usage.map((each) => each.quantity)}::bigint[])
          as input(tenant_id, quantity)
        on conflict (tenant_id, meter_key, window_start) do update set quantity = excluded.quantity
        where known.quantity <> excluded.quantity`;
    },

    /** Deletes the usage of all tenants but the given ones in the windows of a range. */
    async deleteOthers(meterKey: string, { from, until }: Range, tenantIds: readonly TenantId[]): Promise<void> {
      // A loose index scan reads one row per tenant, because the index starts with the tenant.
      await sql`
        with recursive counted as (
          (select tenant_id from billing_service_usage order by tenant_id limit 1)
          union all
          select next.tenant_id from counted cross join lateral (
            select tenant_id from billing_service_usage where tenant_id > counted.tenant_id
            order by tenant_id limit 1) next
        )
        delete from billing_service_usage usage using counted
        where usage.tenant_id = counted.tenant_id and meter_key = ${meterKey}
          and window_start >= ${from} and window_start < ${until}
          and usage.tenant_id <> all(${[...tenantIds]}::text[])`;
    },

    async aggregate(tenantId: TenantId, { key, aggregation }: Meter, { from, until }: Range): Promise<Aggregate> {
      const [row] = await sql<{ quantity: string; events: string }[]>`
        select ${serviceAggregate(sql, aggregation)} as quantity, count(*)::text as events from billing_service_usage
        where tenant_id = ${tenantId} and meter_key = ${key} and window_start >= ${from} and window_start < ${until}`;
      return { quantity: BigInt(row!.quantity), events: BigInt(row!.events) };
    },

    /** Deletes up to `limit` rows of usage before a time; returns the count. */
    async deleteExpired(before: Date, limit: number): Promise<number> {
      const deleted = await sql`
        delete from billing_service_usage where ctid = any(array(
          select ctid from billing_service_usage where window_start < ${before} limit ${limit}))`;
      return deleted.count;
    },
  };
}

function serviceAggregate(sql: Sql, aggregation: Aggregation): Fragment {
  return aggregation === "max" ? sql`coalesce(max(quantity), 0)::text` : sql`coalesce(sum(quantity), 0)::text`;
}

/** The text that identifies a record among the usage of a tenant. */
export function identityOf({ meterKey, transactionId }: Pick<UsageRecord, "meterKey" | "transactionId">): string {
  return `${meterKey}/${transactionId}`;
}
