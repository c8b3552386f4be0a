import { fail } from "../../errors/index.ts";
import type { TenantId } from "../../platform/access/index.ts";
import type { Clock } from "../../platform/clock/clock.ts";
import { createBatcher, type Sql } from "../../platform/db/index.ts";

/** Counts what tenants do against their daily limits. */
export interface Quotas {
  /** Takes so many (one) from today's quota; throws QUOTA_EXCEEDED when they are not left, and takes none. */
  take(tenantId: TenantId, operation: string, limit: number, count?: number): Promise<void>;
  used(sql: Sql, tenantId: TenantId, operation: string): Promise<{ used: number; resetsAt: Date }>;
}

interface Take {
  readonly tenantId: TenantId;
  readonly operation: string;
  readonly limit: number;
  readonly count: number;
}

/** Daily counters in the database. Many callers' takes travel in one statement; what goes over is given back. */
export function createQuotas(sql: Sql, clock: Clock): Quotas {
  // Once a day's quota is used up there is no need to ask again that day, unless the limit was raised.
  const exhausted = new Map<string, { day: string; limit: number }>();

  const takes = createBatcher<Take, boolean>({
    async flush(inputs) {
      const day = dayOf(clock.now());
      const groups = groupBy(inputs);
      const rows = await addUsage(
        sql,
        day,
        [...groups.values()].map((group) => ({ ...group[0]!, count: countOf(group) })),
      );
      const granted = new Set<Take>();
      const refunds = [];
      for (const row of rows) {
        const group = groups.get(keyOf(row))!;
        const { limit } = group[0]!;
        let left = countOf(group) - Math.max(row.used - limit, 0);
        let refused = 0;
        for (const input of group) {
          if (input.count <= left) {
            left -= input.count;
            granted.add(input);
          } else refused += input.count;
        }
        if (refused > 0) refunds.push({ tenantId: row.tenantId, operation: row.operation, count: -refused });
        if (refused > 0 && left <= 0) exhausted.set(keyOf(row), { day, limit });
      }
      if (refunds.length > 0) await addUsage(sql, day, refunds);
      return inputs.map((input) => granted.has(input));
    },
  });

  return {
    async take(tenantId, operation, limit, count = 1) {
      const input = { tenantId, operation, limit, count };
      const known = exhausted.get(keyOf(input));
      const day = dayOf(clock.now());
      const usedUp = known !== undefined && known.day === day && known.limit === limit;
      if (usedUp || !(await takes.run(input))) {
        const resetsAt = endOfDay(clock.now());
        throw fail("QUOTA_EXCEEDED", {
          public: `The daily quota of ${limit} for ${operation} is used up until ${resetsAt.toISOString()}.`,
        });
      }
    },
    async used(connection, tenantId, operation) {
      const now = clock.now();
      const [row] = await connection<{ used: number }[]>`
        select used from quota_usage
        where tenant_id = ${tenantId} and operation = ${operation} and day = ${dayOf(now)}`;
      return { used: row?.used ?? 0, resetsAt: endOfDay(now) };
    },
  };
}

async function addUsage(
  sql: Sql,
  day: string,
  counts: readonly { tenantId: string; operation: string; count: number }[],
): Promise<{ tenantId: string; operation: string; used: number }[]> {
  // In one order everywhere, so that two nodes never wait for each other.
  const sorted = counts.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  return sql`
    insert into quota_usage (tenant_id, operation, day, used)
    select tenant_id, operation, ${day}, count
    from unnest(${sorted.map((each) => each.tenantId)}::text[], ${sorted.map((each) => each.operation)}::text[],
      ${sorted.map((each) => each.count)}::bigint[]) as taken(tenant_id, operation, count)
    on conflict (tenant_id, operation, day) do update set used = quota_usage.used + excluded.used
    returning tenant_id, operation, used`;
}

function groupBy(inputs: readonly Take[]): Map<string, Take[]> {
  const groups = new Map<string, Take[]>();
  for (const input of inputs) {
    const group = groups.get(keyOf(input));
    if (group === undefined) groups.set(keyOf(input), [input]);
    else group.push(input);
  }
  return groups;
}

function countOf(group: readonly Take[]): number {
  return group.reduce((sum, { count }) => sum + count, 0);
}

function keyOf({ tenantId, operation }: { tenantId: string; operation: string }): string {
  return `${tenantId}|${operation}`;
}

function dayOf(nowMs: number): string {
  return new Date(nowMs).toISOString().slice(0, 10);
}

function endOfDay(nowMs: number): Date {
  return new Date(Math.floor(nowMs / 86_400_000 + 1) * 86_400_000);
}
