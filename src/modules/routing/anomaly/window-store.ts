import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { Window } from "./domain/window.ts";

/** A reference to a pool. */
export interface PoolRef {
  readonly tenantId: TenantId;
  readonly poolId: string;
}

/** A window with outcomes, of a recipient or of the whole pool if the id is empty. */
export interface WindowRow extends Window {
  readonly recipientId: string;
  /** The number of windows after the first one. */
  readonly slot: number;
}

/** Maximum amount of data read per window. */
export interface ReadBounds {
  readonly recipientsMax: number;
  readonly outcomesMax: number;
}

type FlatRow = Omit<WindowRow, "latency" | "cost"> &
  Record<`${"latency" | "cost"}${"Count" | "Sum" | "Squares"}`, number>;

export function windowStore(sql: Sql) {
  const sumsOf = (column: "latency" | "cost") => sql`
    count(${sql(column)}) as ${sql(`${column}_count`)}, coalesce(sum(${sql(column)}), 0) as ${sql(`${column}_sum`)},
    coalesce(sum(${sql(column)} * ${sql(column)}), 0) as ${sql(`${column}_squares`)}`;
  return {
    /**
     * Lists pools after a given one that have detection enabled and had outcomes within a day or within their
     * windows.
     */
    async poolsAfter(last: PoolRef | undefined, now: Date, windows: number, limit: number): Promise<PoolRef[]> {
      return sql<PoolRef[]>`
        select tenant_id, id as pool_id from pools
        where (tenant_id, id) > (${last?.tenantId ?? ""}, ${last?.poolId ?? ""}) and status in ('active', 'draining')
          and (config->'anomaly'->>'enabled')::boolean is distinct from false
          and exists (
            select from all_outcomes o where o.tenant_id = pools.tenant_id and o.pool_id = pools.id
              and recorded_at > ${now}::timestamptz - greatest(interval '1 day',
                ${windows} * coalesce((config->'anomaly'->>'windowS')::float8, 0) * interval '1 second'))
        order by tenant_id, id limit ${limit}`;
    },

    /**
     * Aggregates a number of consecutive windows, for the whole pool and for its busiest recipients. Failures and
     * timeouts count as failures; declined and cancelled outcomes count only in the total. If a window has more
     * outcomes than the bound, its statistics use the latest ones; its total remains exact.
     */
    async windows(
      { tenantId, poolId }: PoolRef,
      fromMs: number,
      windowMs: number,
      count: number,
      { recipientsMax, outcomesMax }: ReadBounds,
    ): Promise<WindowRow[]> {
      const from = sql`${new Date(fromMs)}::timestamptz`;
      const length = sql`${windowMs} * interval '1 millisecond'`;
      const inSlot = sql`tenant_id = ${tenantId} and pool_id = ${poolId}
        and recorded_at >= ${from} + slot * ${length} and recorded_at < ${from} + (slot + 1) * ${length}`;
      const rows = await sql<FlatRow[]>`
        with observed as (
          select slot, each.* from generate_series(0, ${count}::int - 1) as slot cross join lateral (
            select recipient_id, recorded_at, decision_id,
              -- The clamp keeps the sums of squares within the range of a double.
              case when latency_ms is not null then least(latency_ms, 1e15) end as latency,
              case when cost is not null then least(greatest(cost, -1e15), 1e15) end as cost,
              case status when 'success' then false when 'failure' then true when 'timeout' then true end as failed
            from all_outcomes where ${inSlot} order by recorded_at desc limit ${outcomesMax}) each
        ), sums as (
          select recipient_id, slot, count(*) as total, count(*) filter (where not failed) as successes,
            count(*) filter (where failed) as failures, ${sumsOf("latency")}, ${sumsOf("cost")}
          from observed group by 1, 2
        ), busiest as (
          select recipient_id from sums where recipient_id <> ''
          group by 1 order by sum(total) desc, 1 limit ${recipientsMax}
        ), turns as (
          select recipient_id, slot, failed, failed <> lag(failed) over own as flipped,
            count(*) filter (where not failed) over own as successes_so_far
          from observed where failed is not null and recipient_id in (select recipient_id from busiest)
          window own as (partition by recipient_id, slot order by recorded_at, decision_id)
        ), runs as (
          select recipient_id, slot, sum(flips)::int as flips, max(failures)::int as failure_run
          from (
            -- Failures with the same number of preceding successes form one run.
            select recipient_id, slot, count(*) filter (where failed) as failures, count(*) filter (where flipped) as flips
            from turns group by recipient_id, slot, successes_so_far) one
          group by 1, 2
        )
        select '' as recipient_id, slot,
          case when sum(total) < ${outcomesMax} then sum(total)::int
            else (select count(*)::int from all_outcomes where ${inSlot}) end as total, sum(successes)::int as successes,
          sum(failures)::int as failures, sum(latency_count)::int as latency_count, sum(latency_sum) as latency_sum,
          sum(latency_squares) as latency_squares, sum(cost_count)::int as cost_count, sum(cost_sum) as cost_sum,
          sum(cost_squares) as cost_squares, 0 as failure_run, 0 as flips
        from sums group by slot
        union all
        select recipient_id, slot, total, successes, failures, latency_count, latency_sum, latency_squares, cost_count,
          cost_sum, cost_squares, coalesce(failure_run, 0), coalesce(flips, 0)
        from sums left join runs using (recipient_id, slot) where recipient_id in (select recipient_id from busiest)`;
      return rows.map(toRow);
    },
  };
}

function toRow({
  latencyCount,
  latencySum,
  latencySquares,
  costCount,
  costSum,
  costSquares,
  ...row
}: FlatRow): WindowRow {
  return {
    ...row,
    latency: { count: latencyCount, sum: latencySum, squares: latencySquares },
    cost: { count: costCount, sum: costSum, squares: costSquares },
  };
}
