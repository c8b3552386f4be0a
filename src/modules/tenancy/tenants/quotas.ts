import type { QuotaReceipt } from "../../../chain/call.ts";
import { type Failure, fail } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Clock } from "../../../platform/clock/clock.ts";
import { createBatcher, type Sql } from "../../../platform/db/index.ts";

/** A request for `count` units of an operation's daily limit. */
export interface QuotaRequest {
  readonly tenantId: TenantId;
  readonly operation: string;
  readonly limit: number;
  readonly count: number;
}

/** The result of quota requests within a transaction. */
export interface QuotaGrant {
  /** Whether each request was granted, in the order of the requests. */
  readonly granted: readonly boolean[];
  /** Caches which quotas are exhausted. To be called after the commit. */
  remember(): void;
  /** Refunds units to the day that they were charged to, within the same transaction. */
  refund(takes: readonly QuotaRequest[]): Promise<void>;
}

/** Counts the calls of tenants against their daily limits. */
export type Quotas = ReturnType<typeof createQuotas>;

const nothingTaken: QuotaReceipt = { async refund() {} };

/** How long an exhausted quota is cached. */
const exhaustedMs = 1000;

/** Creates daily counters in the database. One statement serves a batch of callers; usage above a limit is refunded. */
export function createQuotas(sql: Sql, clock: Clock) {
  // Exhausted quotas are cached only briefly, because another node may refund units.
  const exhausted = new Map<string, { readonly untilMs: number; readonly limit: number }>();

  const takes = createBatcher<QuotaRequest, QuotaReceipt | undefined>({
    async flush(inputs) {
      const { granted, remember, refund } = await grant(sql, inputs);
      remember();
      return inputs.map((input, at) => {
        if (!granted[at]) return undefined;
        return {
          async refund(count) {
            await refund([{ ...input, count }]);
            exhausted.delete(keyOf(input));
          },
        };
      });
    },
  });

  /** Takes within the caller's transaction, so that usage and effect are committed together. */
  async function grant(connection: Sql, inputs: readonly QuotaRequest[]): Promise<QuotaGrant> {
    if (inputs.length === 0) return { granted: [], remember() {}, async refund() {} };
    const day = dayOf(clock.now());
    const groups = Map.groupBy(inputs, keyOf);
    const rows = await addUsage(connection, day, groupCounts(groups));
    const granted = new Set<QuotaRequest>();
    const refunds = [];
    const usedUp: QuotaRequest[] = [];
    for (const row of rows) {
      const group = groups.get(keyOf(row))!;
      const [first] = group as [QuotaRequest];
      let left = countOf(group) - Math.max(row.used - first.limit, 0);
      let refused = 0;
      for (const input of group) {
        if (input.count <= left) {
          left -= input.count;
          granted.add(input);
        } else refused += input.count;
      }
      if (refused > 0) refunds.push({ tenantId: row.tenantId, operation: row.operation, count: -refused });
      if (refused > 0 && left <= 0) usedUp.push(first);
    }
    if (refunds.length > 0) await addUsage(connection, day, refunds);
    return {
      granted: inputs.map((input) => granted.has(input)),
      remember() {
        const nowMs = clock.now();
        // Quotas reset at the end of the UTC day.
        const untilMs = Math.min(nowMs + exhaustedMs, endOfDay(nowMs).getTime());
        for (const each of usedUp) exhausted.set(keyOf(each), { untilMs, limit: each.limit });
      },
      async refund(given) {
        if (given.length === 0) return;
        const counts = groupCounts(Map.groupBy(given, keyOf)).map((each) => ({ ...each, count: -each.count }));
        await addUsage(connection, day, counts);
      },
    };
  }

  /** Whether the cache says that today's quota is exhausted, so that a rejection costs no statement. */
  function isUsedUp(take: Omit<QuotaRequest, "count">): boolean {
    const known = exhausted.get(keyOf(take));
    return known !== undefined && clock.now() < known.untilMs && known.limit === take.limit;
  }

  function exceeded({ operation, limit }: Pick<QuotaRequest, "operation" | "limit">): Failure {
    const resetsAt = endOfDay(clock.now());
    return fail("QUOTA_EXCEEDED", {
      public: `The daily quota of ${limit} for ${operation} is exceeded. It resets at ${resetsAt.toISOString()}.`,
    });
  }

  return {
    /**
     * Takes `count` units (default: one) from today's quota, or throws QUOTA_EXCEEDED and takes none. A count of 0 only checks
     * the cache for an exhausted quota, without a statement.
     */
    async take(tenantId: TenantId, operation: string, limit: number, count = 1): Promise<QuotaReceipt> {
      const input = { tenantId, operation, limit, count };
      if (isUsedUp(input)) throw exceeded(input);
      if (count === 0) return nothingTaken;
      const receipt = await takes.run(input);
      if (receipt === undefined) throw exceeded(input);
      return receipt;
    },
    takeIn: grant,
    isUsedUp,
    exceeded,
    async used(connection: Sql, tenantId: TenantId, operation: string): Promise<{ used: number; resetsAt: Date }> {
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
  // Lock rows in the global order to avoid deadlocks between nodes.
  const sorted = counts.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  return sql`
    insert into quota_usage (tenant_id, operation, day, used)
    select tenant_id, operation, ${day}, count
    from unnest(${sorted.map((each) => each.tenantId)}::text[], ${sorted.map((each) => each.operation)}::text[],
      ${sorted.map((each) => each.count)}::bigint[]) as taken(tenant_id, operation, count)
    on conflict (tenant_id, operation, day) do update set used = quota_usage.used + excluded.used
    returning tenant_id, operation, used`;
}

function groupCounts(groups: ReadonlyMap<string, readonly QuotaRequest[]>): QuotaRequest[] {
  return [...groups.values()].map((group) => ({ ...group[0]!, count: countOf(group) }));
}

function countOf(group: readonly QuotaRequest[]): number {
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
