import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { Grants } from "../entitlements/index.ts";
import type { Period, PlanChange, Segment, Subscription } from "./domain/subscription.ts";

interface StoredGrants extends Omit<Grants, "limits"> {
  readonly limits: Readonly<Record<string, string>>;
}

type SubscriptionRow = Omit<Subscription, "overrides"> & { readonly overrides: StoredGrants };

/** The SQL queries of subscriptions, their segments and periods. */
export function subscriptionStore(sql: Sql) {
  const columns = sql`
    tenant_id, id, plan_key, plan_version, status, anchor_at, period_number, period_start, period_end, overrides, scheduled,
    created_at, updated_at, record_version`;
  const periodColumns = sql`tenant_id, starts_at, ends_at, currency, state`;
  return {
    async find(tenantId: TenantId): Promise<Subscription | undefined> {
      const [row] = await sql<SubscriptionRow[]>`
        select ${columns} from billing_subscriptions where tenant_id = ${tenantId}`;
      return row && toSubscription(row);
    },

    /** Finds a subscription and locks it until the transaction ends. */
    async lock(tenantId: TenantId): Promise<Subscription | undefined> {
      const [row] = await sql<SubscriptionRow[]>`
        select ${columns} from billing_subscriptions where tenant_id = ${tenantId} for update`;
      return row && toSubscription(row);
    },

    /** Keeps others from locking a subscription until the transaction ends; several callers can do so at once. */
    async lockShared(tenantId: TenantId): Promise<void> {
      await sql`select from billing_subscriptions where tenant_id = ${tenantId} for share`;
    },

    async insert(subscription: Subscription): Promise<Subscription> {
      const { tenantId, id, planKey, planVersion, status, createdAt, updatedAt } = subscription;
      const [row] = await sql<SubscriptionRow[]>`
        insert into billing_subscriptions (tenant_id, id, plan_key, plan_version, status, anchor_at, period_number,
          period_start, period_end, overrides, scheduled, created_at, updated_at)
        values (${tenantId}, ${id}, ${planKey}, ${planVersion}, ${status}, ${subscription.anchorAt},
          ${subscription.periodNumber}, ${subscription.periodStart}, ${subscription.periodEnd},
          ${sql.json(toStored(subscription.overrides) as never)}, null, ${createdAt}, ${updatedAt})
        returning ${columns}`;
      return toSubscription(row!);
    },

    /** Stores a locked subscription. */
    async update(subscription: Subscription, now: Date): Promise<Subscription> {
      const { scheduled } = subscription;
      const [row] = await sql<SubscriptionRow[]>`
        update billing_subscriptions set
          plan_key = ${subscription.planKey}, plan_version = ${subscription.planVersion}, status = ${subscription.status},
          anchor_at = ${subscription.anchorAt}, period_number = ${subscription.periodNumber},
          period_start = ${subscription.periodStart}, period_end = ${subscription.periodEnd},
          overrides = ${sql.json(toStored(subscription.overrides) as never)},
          scheduled = ${scheduled === null ? null : sql.json(scheduled as never)}::jsonb,
          updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${subscription.tenantId}
        returning ${columns}`;
      return toSubscription(row!);
    },

    async insertSegment(tenantId: TenantId, id: string, segment: Segment): Promise<void> {
      await sql`
        insert into billing_segments (tenant_id, id, plan_key, plan_version, starts_at, ends_at)
        values (${tenantId}, ${id}, ${segment.planKey}, ${segment.planVersion}, ${segment.startsAt}, ${segment.endsAt})`;
    },

    /** When the next segment can start: now, or the end of the last one if a clock was set back since. */
    async nextSegmentStart(tenantId: TenantId, now: Date): Promise<Date> {
      const [row] = await sql<{ at: Date }[]>`
        select greatest(${now}::timestamptz, max(starts_at), max(ends_at)) as at from billing_segments
        where tenant_id = ${tenantId}`;
      return row!.at;
    },

    async endSegment(tenantId: TenantId, endsAt: Date): Promise<void> {
      await sql`
        update billing_segments set ends_at = ${endsAt} where tenant_id = ${tenantId} and ends_at is null`;
    },

    /** The segments that touch a period, in order. */
    async findSegments(tenantId: TenantId, { startsAt, endsAt }: Pick<Period, "startsAt" | "endsAt">) {
      return sql<Segment[]>`
        select plan_key, plan_version, starts_at, ends_at from billing_segments
        where tenant_id = ${tenantId} and starts_at < ${endsAt} and (ends_at is null or ends_at > ${startsAt})
        order by starts_at, id`;
    },

    /** When the first segment of all tenants starts; undefined without one. */
    async findFirstStart(): Promise<Date | undefined> {
      const [row] = await sql<{ at: Date | null }[]>`select min(starts_at) as at from billing_segments`;
      return row!.at ?? undefined;
    },

    /** The changes of all tenants after the start and before the end of a range, by tenant and time. */
    async findChanges({ from, until }: { readonly from: Date; readonly until: Date }): Promise<PlanChange[]> {
      // A period starts with a segment, or at the end of another period. An invoiced period has settled usage.
      return sql<PlanChange[]>`
        select tenant_id, starts_at as at from billing_segments where starts_at > ${from} and starts_at < ${until}
        union
        select tenant_id, ends_at from billing_segments where ends_at > ${from} and ends_at < ${until}
        union
        select tenant_id, ends_at from billing_periods
        where state <> 'invoiced' and ends_at > ${from} and ends_at < ${until}
        order by tenant_id, at`;
    },

    async insertPeriod({ tenantId, startsAt, endsAt, currency, state }: Period): Promise<void> {
      await sql`
        insert into billing_periods (tenant_id, starts_at, ends_at, currency, state)
        values (${tenantId}, ${startsAt}, ${endsAt}, ${currency}, ${state})`;
    },

    /** Closes a period or marks it as invoiced. An invoiced period stays so. */
    async setPeriodState(tenantId: TenantId, startsAt: Date, state: "closed" | "invoiced"): Promise<void> {
      await sql`
        update billing_periods set state = ${state}
        where tenant_id = ${tenantId} and starts_at = ${startsAt} and state <> 'invoiced'`;
    },

    findPeriod: (tenantId: TenantId, startsAt: Date) =>
      sql<Period[]>`
        select ${periodColumns} from billing_periods where tenant_id = ${tenantId} and starts_at = ${startsAt}`.first(),

    /** Periods that have ended before a time and are open or closed, oldest first; those after one, if it is given. */
    async findEndedPeriods(
      state: "open" | "closed",
      before: Date,
      limit: number,
      after?: Pick<Period, "endsAt" | "tenantId">,
    ): Promise<Period[]> {
      return sql<Period[]>`
        select ${periodColumns} from billing_periods where state = ${state} and state <> 'invoiced' and ends_at <= ${before}
          ${after === undefined ? sql`` : sql`and (ends_at, tenant_id) > (${after.endsAt}, ${after.tenantId})`}
        order by ends_at, tenant_id limit ${limit}`;
    },

    /** The end of the last invoiced period; undefined without one. */
    async findInvoicedUntil(tenantId: TenantId): Promise<Date | undefined> {
      const [row] = await sql<{ until: Date | null }[]>`
        select max(ends_at) as until from billing_periods where tenant_id = ${tenantId} and state = 'invoiced'`;
      return row!.until ?? undefined;
    },
  };
}

function toStored({ allow, deny, limits }: Grants): StoredGrants {
  const texts = Object.entries(limits).map(([operation, limit]) => [operation, String(limit)] as const);
  return { allow, deny, limits: Object.fromEntries(texts) };
}

function toSubscription({ overrides, ...row }: SubscriptionRow): Subscription {
  const limits = Object.entries(overrides.limits).map(([operation, limit]) => [operation, BigInt(limit)] as const);
  return { ...row, overrides: { ...overrides, limits: Object.fromEntries(limits) } };
}
