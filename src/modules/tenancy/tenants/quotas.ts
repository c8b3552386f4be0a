import type { QuotaReceipt } from "../../../chain/call.ts";
import { type Failure, fail } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Clock } from "../../../platform/clock/clock.ts";
import { createBatcher, type Sql } from "../../../platform/db/index.ts";

/** So many of an operation that a tenant wants to do, of so many that it may do in a day. */
export interface QuotaTake {
  readonly tenantId: TenantId;
  readonly operation: string;
  readonly limit: number;
  readonly count: number;
}

/** What was taken within a transaction. */
export interface QuotaGrant {
  /** Whether each was granted, in the order in which they were asked for. */
  readonly granted: readonly boolean[];
  /** To be called after the commit: remembers which quotas are used up. */
  remember(): void;
  /** Gives some of it back to the day that it was taken from, within the same transaction. */
  giveBack(takes: readonly QuotaTake[]): Promise<void>;
}

/** Counts what tenants do against their daily limits. */
export interface Quotas {
  /**
   * Takes so many (one) from today's quota; throws QUOTA_EXCEEDED when they are not left, and takes none. A count of 0 only
   * asks whether the quota is known to be used up, without a statement.
   */
  take(tenantId: TenantId, operation: string, limit: number, count?: number): Promise<QuotaReceipt>;
  /** Takes within the transaction of the effect: both are committed or neither is. */
  takeIn(tx: Sql, takes: readonly QuotaTake[]): Promise<QuotaGrant>;
  /** Whether today's quota is known to be used up: a refusal costs no statement then. */
  isUsedUp(take: Omit<QuotaTake, "count">): boolean;
  /** The refusal of what goes over a quota. */
  exceeded(take: Pick<QuotaTake, "operation" | "limit">): Failure;
  used(sql: Sql, tenantId: TenantId, operation: string): Promise<{ used: number; resetsAt: Date }>;
}

const nothingTaken: QuotaReceipt = { async giveBack() {} };

/** For how long a quota counts as used up before it is asked for again. */
const exhaustedMs = 1000;

/** Daily counters in the database. Many callers' takes travel in one statement; what goes over is given back. */
export function createQuotas(sql: Sql, clock: Clock): Quotas {
  // A quota that was used up a moment ago is not asked for again. Only for a moment: another node may give some back.
  const exhausted = new Map<string, { readonly untilMs: number; readonly limit: number }>();

  const takes = createBatcher<QuotaTake, QuotaReceipt | undefined>({
    async flush(inputs) {
      const { granted, remember, giveBack } = await grant(sql, inputs);
      remember();
      return inputs.map((input, at) => {
        if (!granted[at]) return undefined;
        return {
          async giveBack(count) {
            await giveBack([{ ...input, count }]);
            exhausted.delete(keyOf(input));
          },
        };
      });
    },
  });

  async function grant(connection: Sql, inputs: readonly QuotaTake[]): Promise<QuotaGrant> {
    if (inputs.length === 0) return { granted: [], remember() {}, async giveBack() {} };
    const day = dayOf(clock.now());
    const groups = Map.groupBy(inputs, keyOf);
    const rows = await addUsage(connection, day, groupCounts(groups));
    const granted = new Set<QuotaTake>();
    const refunds = [];
    const usedUp: QuotaTake[] = [];
    for (const row of rows) {
      const group = groups.get(keyOf(row))!;
      const [first] = group as [QuotaTake];
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
        // Whatever was used up yesterday is out of date.
        const untilMs = Math.min(nowMs + exhaustedMs, endOfDay(nowMs).getTime());
        for (const each of usedUp) exhausted.set(keyOf(each), { untilMs, limit: each.limit });
      },
      async giveBack(given) {
        if (given.length === 0) return;
        const counts = groupCounts(Map.groupBy(given, keyOf)).map((each) => ({ ...each, count: -each.count }));
        await addUsage(connection, day, counts);
      },
    };
  }

  function isUsedUp(take: Omit<QuotaTake, "count">): boolean {
    const known = exhausted.get(keyOf(take));
    return known !== undefined && clock.now() < known.untilMs && known.limit === take.limit;
  }

  function exceeded({ operation, limit }: Pick<QuotaTake, "operation" | "limit">): Failure {
    const resetsAt = endOfDay(clock.now());
    return fail("QUOTA_EXCEEDED", {
      public: `The daily quota of ${limit} for ${operation} is used up until ${resetsAt.toISOString()}.`,
    });
  }

  return {
    async take(tenantId, operation, limit, count = 1) {
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

function groupCounts(groups: ReadonlyMap<string, readonly QuotaTake[]>): QuotaTake[] {
  return [...groups.values()].map((group) => ({ ...group[0]!, count: countOf(group) }));
}

function countOf(group: readonly QuotaTake[]): number {
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
