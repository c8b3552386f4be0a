import type { TenantId } from "../../../../platform/access/index.ts";
import type { Fragment, Sql } from "../../../../platform/db/index.ts";
import { lowestUlid } from "../../../../platform/ids/ulid.ts";
import type { ReleasedLease } from "../transitions/lease-release.ts";
import type { BulkCount, MatchedState, QueueItemFilter } from "./domain/bulk-operation.ts";

/** The items that a scan reads. */
export interface ScanRange {
  readonly tenantId: TenantId;
  readonly poolId: string;
  /** Only items after this id. */
  readonly after: string;
  /** Only items that were enqueued before this time. */
  readonly enqueuedBeforeMs: number;
}

/** A matching item. */
export interface ScannedItem extends ReleasedLease {
  readonly state: MatchedState;
}

/** A part of a queue that was scanned. */
export interface ScannedPage {
  readonly items: readonly ScannedItem[];
  /** The last scanned item, whether it matches or not; undefined at the end of the queue. */
  readonly lastId: string | undefined;
}

/** Where a count stops. */
export const countMax = 100_000;

interface Row extends ScannedItem {
  readonly lastId: string | null;
  readonly scanned: number;
}

/** The queries that find the items of an operation. They read a bounded number of rows, however few of them match. */
export function itemScan(sql: Sql, action: "cancel" | "requeue", filter: QueueItemFilter) {
  /** Up to `limit` unfinished items in the order of their ids. The states are literals, so that partial indexes apply. */
  function scanned({ tenantId, poolId, after, enqueuedBeforeMs }: ScanRange, limit: number): Fragment {
    const beforeMs = Math.min(enqueuedBeforeMs, filter.enqueuedBeforeMs ?? enqueuedBeforeMs);
    const afterId = lowestUlid(filter.enqueuedAfterMs ?? 0);
    const range = sql`tenant_id = ${tenantId} and pool_id = ${poolId} and id > ${after} and id >= ${afterId}
      and id < ${lowestUlid(beforeMs)}`;
    const waiting = sql`(select * from queue_items
      where ${range} and state in ('pending', 'held', 'ready') order by id limit ${limit})`;
    const leased = sql`(select * from queue_items where ${range} and state = 'leased' order by id limit ${limit})`;
    const wanted = wantedStates();
    const parts = [
      ...(wanted.some((state) => state !== "leased") ? [waiting] : []),
      ...(wanted.includes("leased") ? [leased] : []),
    ];
    const [first, second] = parts;
    return second === undefined ? first! : sql`${first!} union all ${second} order by id limit ${limit}`;
  }

  function wantedStates(): readonly MatchedState[] {
    if (filter.states.length > 0) return filter.states;
    return action === "cancel" ? ["pending", "held", "ready", "leased"] : ["pending", "leased"];
  }

  /** Whether an item `q` matches. */
  function matches(): Fragment {
    const { recipientId, type, key, minPriority, maxPriority, attributes } = filter;
    const names = Object.keys(attributes);
    // A decision-only item has no worker that could lose it.
    const applicable = sql`((q.state = 'leased' and q.delivery <> 'none') or (q.state = 'pending' and q.hold_reason = 'retry'))`;
    return sql`q.state = any(${wantedStates() as string[]})
      ${action === "requeue" ? sql`and ${applicable}` : sql``}
      ${recipientId === "" ? sql`` : sql`and q.recipient_id = ${recipientId}`}
      ${type === "" ? sql`` : sql`and q.type = ${type}`} ${key === "" ? sql`` : sql`and q.key = ${key}`}
      ${minPriority === undefined ? sql`` : sql`and q.priority >= ${minPriority}`}
      ${maxPriority === undefined ? sql`` : sql`and q.priority <= ${maxPriority}`}
      ${
        names.length === 0
          ? sql``
          : sql`and not exists (
              select from unnest(${names}::text[], ${Object.values(attributes)}::text[]) as wanted(name, value)
              where q.attributes::json ->> wanted.name is distinct from wanted.value)`
      }`;
  }

  return {
    /** Reads the next items of a queue and returns those that match. */
    async readPage(range: ScanRange, limit: number): Promise<ScannedPage> {
      const rows = await sql<Row[]>`
        with scanned as materialized (${scanned(range, limit)})
        select total.last_id, total.scanned, q.tenant_id, q.id, q.pool_id, q.state, q.lease_token, q.singleton_group,
          q.debounce_group, q.concurrency_group
        from (select max(id collate "C") as last_id, count(*)::int as scanned from scanned) total
        left join scanned q on ${matches()}
        order by q.id collate "C"`;
      const { lastId, scanned: read } = rows[0]!;
      const items = rows.filter(({ id }) => id !== null);
      return { items, lastId: lastId === null || read < limit ? undefined : lastId };
    },

    async count(range: ScanRange): Promise<BulkCount> {
      const rows = await sql<{ state: string | null; count: number; scanned: number }[]>`
        with scanned as materialized (${scanned(range, countMax)}),
        matching as (select q.state, count(*)::int as count from scanned q where ${matches()} group by q.state)
        select total.scanned, matching.state, matching.count
        from (select count(*)::int as scanned from scanned) total left join matching on true`;
      const found = rows.flatMap(({ state, count }) => (state === null ? [] : [[state, count] as const]));
      return {
        count: found.reduce((sum, [, each]) => sum + each, 0),
        countByState: Object.fromEntries(found),
        capped: rows[0]!.scanned >= countMax,
      };
    },
  };
}
