import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { gaugeWindowMs } from "./collection/windows.ts";
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

/** The usage of a tenant in a window, or in a part of one. */
export interface CountedWindow {
  readonly tenantId: TenantId;
  readonly start: Date;
  readonly quantity: number;
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

    archive: (tenantId: TenantId, key: string, now: Date) =>
      sql<Meter[]>`
        update billing_meters set status = 'archived', updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${tenantId} and key = ${key} and status = 'active'
        returning ${columns}`.first(),
  };
}

export function usageStore(sql: Sql) {
  const aggregateOf = (aggregation: Aggregation) =>
    ({
      sum: sql`coalesce(sum(quantity), 0)::text`,
      count: sql`count(*)::text`,
      max: sql`coalesce(max(quantity), 0)::text`,
      last: sql`coalesce((array_agg(quantity order by at desc, recorded_at desc, transaction_id desc))[1], 0)::text`,
      unique_count: sql`count(distinct value)::text`,
    })[aggregation];
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

    /** Finds recorded usage with the transaction ids of some records, by identity. */
    async findRecorded(tenantId: TenantId, records: readonly UsageRecord[]): Promise<ReadonlyMap<string, UsageRecord>> {
      const rows = await sql<(Omit<UsageRecord, "quantity"> & { quantity: string })[]>`
        select meter_key, transaction_id, at, quantity::text as quantity, value, dimensions from billing_usage
        where tenant_id = ${tenantId} and (meter_key, transaction_id) in (
          select * from unnest(${records.map((each) => each.meterKey)}::text[],
            ${records.map((each) => each.transactionId)}::text[]))`;
      return new Map(rows.map((row) => [identityOf(row), { ...row, quantity: BigInt(row.quantity) }]));
    },

    /** The usage of meters with one aggregation in ranges, in the given order. All or none are fed by the service. */
    async aggregateMany(tenantId: TenantId, wanted: readonly (Range & { readonly meter: Meter })[]) {
      const { serviceFed, aggregation } = wanted[0]!.meter;
      const [table, time] = serviceFed ? ["billing_service_usage", "window_start"] : ["billing_usage", "at"];
      // A gauge has its measured value in the whole window, so a range starts with the value of the window before it.
      const leadS = serviceFed && aggregation === "max" ? (gaugeWindowMs - 1) / 1000 : 0;
      const rows = await sql<{ quantity: string; events: string }[]>`
        select found.quantity, found.events from unnest(${wanted.map(({ meter }) => meter.key)}::text[],
          ${wanted.map(({ from }) => from.toISOString())}::timestamptz[],
          ${wanted.map(({ until }) => until.toISOString())}::timestamptz[]) with ordinality
          as wanted(key, since, until, nth)
        cross join lateral (
          select ${aggregateOf(aggregation)} as quantity, count(*)::text as events from ${sql(table!)}
          where tenant_id = ${tenantId} and meter_key = wanted.key
            and ${sql(time!)} >= wanted.since - make_interval(secs => ${leadS}) and ${sql(time!)} < wanted.until) found
        order by wanted.nth`;
      return rows.map(({ quantity, events }) => ({ quantity: BigInt(quantity), events: BigInt(events) }));
    },

    async aggregateGroups(tenantId: TenantId, { key, aggregation }: Meter, { from, until }: Range) {
      const rows = await sql<{ dimensions: Record<string, string>; quantity: string; events: string }[]>`
        select dimensions, ${aggregateOf(aggregation)} as quantity, count(*)::text as events from billing_usage
        where tenant_id = ${tenantId} and meter_key = ${key} and at >= ${from} and at < ${until}
        group by dimensions order by dimensions limit ${groupsMax}`;
      return rows.map((row) => ({ ...row, quantity: BigInt(row.quantity), events: BigInt(row.events) }));
    },
  };
}

/** The SQL queries of usage that the service counts itself. */
export function serviceUsageStore(sql: Sql) {
  return {
    /** Sets the usage of windows. A repeated count replaces the earlier one. */
    async setMany(meterKey: string, windows: readonly CountedWindow[]): Promise<void> {
      await sql`
        insert into billing_service_usage as known (tenant_id, meter_key, window_start, quantity)
        select tenant_id, ${meterKey}, start, quantity
        from unnest(${windows.map((each) => each.tenantId)}::text[],
          ${windows.map((each) => each.start.toISOString())}::timestamptz[],
          ${windows.map((each) => each.quantity)}::bigint[]) as input(tenant_id, start, quantity)
        on conflict (tenant_id, meter_key, window_start) do update set quantity = excluded.quantity
        where known.quantity <> excluded.quantity`;
    },

    /** Deletes all windows of a range but the given ones. */
    async deleteOthers(meterKey: string, { from, until }: Range, kept: readonly CountedWindow[]): Promise<void> {
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
          and (usage.tenant_id, window_start) not in (
            select * from unnest(${kept.map((each) => each.tenantId)}::text[],
              ${kept.map((each) => each.start.toISOString())}::timestamptz[]))`;
    },
  };
}

/** The text that identifies a record among the usage of a tenant. */
export function identityOf({ meterKey, transactionId }: Pick<UsageRecord, "meterKey" | "transactionId">): string {
  return `${meterKey}/${transactionId}`;
}
