import type { Principal, TenantId } from "../../../platform/access/index.ts";
import { type Backlog, type Fragment, recordRows, type Sql } from "../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../platform/paging/index.ts";
import { inUsablePools } from "../pools/index.ts";
import type { DeadLetter, DeadLetterState, LetterStatus } from "./domain/dead-letter.ts";
import type { RequeuedItem } from "./readmission.ts";

/** The maximum number of attempts that a letter stores, over all its retries. */
const attemptsMax = 100;

/** Items that failed and that nobody has retried or set aside. */
export const failedItems: Backlog = {
  name: "queue_dead_letters",
  rows: (sql) => sql`select last_failed_at, queue_item_id from dead_letters where state = 'failed'`,
};

/** An item that has just failed permanently. */
export interface NewDeadLetter
  extends Pick<DeadLetter, "poolId" | "queueItemId" | "reasonCode" | "phase" | "attempts" | "maxRetries"> {
  readonly failedAt: Date;
}

/** The values that a requeued item starts with. */
export interface RequeueSettings {
  readonly now: Date;
  readonly expiresAt: Date;
  /** Milliseconds of waiting that equal one point of priority. */
  readonly ageingMs: number;
}

/** A retried item that has ended. */
export interface ResolvedItem {
  readonly poolId: string;
  readonly id: string;
}

/** The pools whose letters are read. */
export interface PoolChoice {
  /** The only pool; undefined for all that the caller may use. */
  readonly poolId: string | undefined;
  readonly principal: Pick<Principal, "environmentMode">;
  /** The id or key of the only environment; empty for all. */
  readonly environmentId: string;
}

/** Counts of letters. */
export interface Stats {
  readonly depth: number;
  readonly quarantined: number;
  readonly exhausted: number;
  readonly oldestFailureAt: Date | null;
}

/** Selects the letters of a deletion. */
export interface RemovalFilter {
  readonly state: Exclude<DeadLetterState, "retrying">;
  readonly failedBefore: Date | undefined;
}

/** The position of a letter among those of its pool, oldest failure first. */
export interface LetterPosition {
  readonly queueItemId: string;
  /** PostgreSQL's text format; a Date would lose the microseconds. */
  readonly failedAt: string;
}

/**
 * The SQL of dead letters. The lock of an item also guards its letter: every transaction that changes a letter holds the
 * item's lock, including the queue's. To avoid deadlocks, items are locked in order of their ids or skipped when locked,
 * and the queue's depth row is locked last.
 */
export function deadLetterStore(sql: Sql) {
  const retryable = sql`state = 'failed' and retry_count < max_retries`;

  /** Whether no later pool has a letter of the item in this state. Lists of all pools show each item once. */
  const isOnlyLetter = sql`not exists (
    select from dead_letters other where other.tenant_id = dead_letters.tenant_id
      and other.state = dead_letters.state and other.queue_item_id = dead_letters.queue_item_id
      and other.pool_id > dead_letters.pool_id)`;

  /**
   * Requeues the items that the fragment selects and locks, and counts the retry on their letters; returns their number.
   * An item that is not in `requeued` becomes ready and is in no group.
   */
  async function requeue(
    tenantId: TenantId,
    poolId: string,
    picked: Fragment,
    settings: RequeueSettings,
    requeued: readonly RequeuedItem[] = [],
  ): Promise<number> {
    const { now, expiresAt, ageingMs } = settings;
    const [row] = await sql<{ count: number }[]>`
      with picked as (${picked}),
      counted as (
        update dead_letters set state = 'retrying', retry_count = retry_count + 1
        where tenant_id = ${tenantId} and pool_id = ${poolId} and queue_item_id = any(array(select id from picked))
          and ${retryable}
        returning queue_item_id, reason_code
      ), back as (
        update queue_items set
          state = coalesce(placed.state, 'ready'), hold_reason = coalesce(placed.hold_reason, ''),
          due_at = to_timestamp(placed.due_at_ms / 1000),
          singleton_group = coalesce(placed.singleton, ''), debounce_group = coalesce(placed.debounce, ''),
          throttle_group = coalesce(placed.throttle, ''), concurrency_group = coalesce(placed.concurrency, ''),
          has_slot = false,
          rank = ${now.getTime()}::bigint - round(priority * ${ageingMs}::float8)::bigint,
          expires_at = ${expiresAt},
          -- Its expiry no longer follows from its id.
          own_ttl = true, revived = true,
          -- The recipient is chosen again, as after every failed attempt.
          recipient_id = '',
          -- An item that a rule rejected is not leased before the rules are evaluated again.
          delivery = case counted.reason_code when 'rule_reject' then 'undecided' else 'pull' end,
          attempt = 0, failures = '[]', lease_token = '', lease_until = null,
          leased_at = null, ended_at = null,
          assign_tries = null, assign_reason = null, assign_snapshot = null, assign_after = null
        from counted left join json_to_recordset(${JSON.stringify(requeued.map(requeuedRow))}::text::json) as placed(
          id text, state text, hold_reason text, due_at_ms float8, singleton text, debounce text, throttle text,
          concurrency text) on placed.id = counted.queue_item_id
        where tenant_id = ${tenantId} and queue_items.id = counted.queue_item_id
        returning queue_items.id
      )
      select count(*) from back`;
    return row!.count;
  }

  /** Selects and locks the named items that are dead letters of the pool. */
  function lockedItems(tenantId: TenantId, poolId: string, queueItemIds: readonly string[]): Fragment {
    return sql`
      select id from queue_items
      where tenant_id = ${tenantId} and id = any(${queueItemIds as string[]}) and pool_id = ${poolId}
        and state = 'dead_lettered'
      order by id for update`;
  }

  /** Selects and locks the items of matching letters, oldest failure first. Skips locked items. */
  function oldestItems(matching: Fragment, limit: number): Fragment {
    return sql`
      select item.id from (select * from dead_letters where ${matching}) letter
      join queue_items item on item.tenant_id = letter.tenant_id and item.id = letter.queue_item_id
        and item.pool_id = letter.pool_id and item.state = 'dead_lettered'
      order by letter.last_failed_at limit ${limit} for update of item skip locked`;
  }

  /** The state is a literal, so that PostgreSQL can use the partial indexes. */
  function inState(state: DeadLetterState): Fragment {
    return {
      failed: sql`state = 'failed'`,
      retrying: sql`state = 'retrying'`,
      quarantined: sql`state = 'quarantined'`,
    }[state];
  }

  return {
    /** Adds letters, or marks retried ones as failed again. The caller holds the items' locks. */
    async record(tenantId: TenantId, letters: readonly NewDeadLetter[]): Promise<void> {
      const rows = letters.map(({ failedAt, ...letter }) => ({
        ...letter,
        attempts: letter.attempts.slice(-attemptsMax),
        lastFailedAt: failedAt,
      }));
      await sql`
        insert into dead_letters as held (tenant_id, pool_id, queue_item_id, state, reason_code, phase, attempts,
          max_retries, payload_digest, first_failed_at, last_failed_at)
        select distinct on (letter.pool_id, letter.queue_item_id)
          ${tenantId}, letter.pool_id, letter.queue_item_id, 'failed', letter.reason_code, letter.phase, letter.attempts,
          letter.max_retries, coalesce(sha256(convert_to(payload::jsonb::text, 'UTF8')), ''), last_failed_at, last_failed_at
        from ${recordRows(sql, "dead_letters", rows)} as letter
        left join queue_items item on item.tenant_id = ${tenantId} and item.id = letter.queue_item_id
        order by letter.pool_id, letter.queue_item_id, last_failed_at desc
        on conflict (tenant_id, pool_id, queue_item_id) do update set
          state = 'failed', reason_code = excluded.reason_code, phase = excluded.phase,
          attempts = (
            select coalesce(jsonb_agg(attempt order by place), '[]') from (
              select attempt, place
              from jsonb_array_elements(held.attempts || excluded.attempts) with ordinality as list(attempt, place)
              order by place desc limit ${attemptsMax}) latest),
          last_failed_at = excluded.last_failed_at`;
    },

    /** Deletes the letters of retried items that have ended. The caller holds the items' locks. */
    async deleteResolved(tenantId: TenantId, items: readonly ResolvedItem[]): Promise<void> {
      await sql`
        delete from dead_letters letter
        using unnest(${items.map(({ poolId }) => poolId)}::text[], ${items.map(({ id }) => id)}::text[]) as item(pool_id, id)
        where letter.tenant_id = ${tenantId} and letter.pool_id = item.pool_id and letter.queue_item_id = item.id
          and letter.state = 'retrying'`;
    },

    /**
     * Moves the letters of retried items to another pool. The caller holds the items' locks. A letter that the other pool
     * already has for the item stays.
     */
    async changePool(tenantId: TenantId, queueItemIds: readonly string[], fromPoolId: string, toPoolId: string) {
      await sql`
        update dead_letters letter set pool_id = ${toPoolId}
        where tenant_id = ${tenantId} and pool_id = ${fromPoolId} and queue_item_id = any(${queueItemIds as string[]})
          and not exists (
            select from dead_letters other where other.tenant_id = ${tenantId} and other.pool_id = ${toPoolId}
              and other.queue_item_id = letter.queue_item_id)`;
    },

    async list(
      tenantId: TenantId,
      { poolId, principal, environmentId }: PoolChoice,
      state: DeadLetterState,
      page: Page,
    ): Promise<PageRows<DeadLetter>> {
      const decided = (column: string) => sql`
        coalesce((select ${sql(column)} from all_items
          where all_items.tenant_id = dead_letters.tenant_id and id = queue_item_id), '') as ${sql(column)}`;
      const columns = sql`tenant_id, pool_id, queue_item_id, state, reason_code, phase, attempts, retry_count, max_retries,
        payload_digest, first_failed_at, last_failed_at, ${decided("type")}, ${decided("key")}`;
      const inPools = poolId === undefined ? isOnlyLetter : sql`pool_id = ${poolId}`;
      const where = sql`tenant_id = ${tenantId} and ${inPools} and ${inState(state)}`;
      const selection = { columns, table: "dead_letters", where, key: "queue_item_id", newestFirst: true };
      const filter = inUsablePools(sql, tenantId, principal, environmentId);
      return readKeyset<DeadLetter>(sql, { ...selection, filter }, page);
    },

    async stats(tenantId: TenantId, { poolId, principal, environmentId }: PoolChoice): Promise<Stats> {
      const ofPool = poolId === undefined ? sql`` : sql`and pool_id = ${poolId}`;
      const usable = inUsablePools(sql, tenantId, principal, environmentId) ?? sql`true`;
      const own = sql`from dead_letters where tenant_id = ${tenantId} ${ofPool} and ${usable}`;
      const [row] = await sql<Stats[]>`
        select count(*) as depth, count(*) filter (where retry_count >= max_retries) as exhausted,
          min(last_failed_at) as oldest_failure_at, (select count(*) ${own} and state = 'quarantined') as quarantined
        ${own} and state = 'failed'`;
      return row!;
    },

    /**
     * Locks the named letters until the transaction ends and returns their status. A letter whose item was not
     * dead-lettered at the time of locking is reported as retrying: waiting for its lock now would violate the lock order.
     */
    async lock(tenantId: TenantId, poolId: string, queueItemIds: readonly string[]): Promise<LetterStatus[]> {
      const locked = new Set((await lockedItems(tenantId, poolId, queueItemIds)).map((item) => item.id));
      const letters = await sql<LetterStatus[]>`
        select queue_item_id, state, retry_count, max_retries from dead_letters
        where tenant_id = ${tenantId} and pool_id = ${poolId} and queue_item_id = any(${queueItemIds as string[]})`;
      return letters.map((letter) => (locked.has(letter.queueItemId) ? letter : { ...letter, state: "retrying" }));
    },

    /** Requeues the items of the named letters that can be retried; returns their number. */
    async retryNamed(
      tenantId: TenantId,
      poolId: string,
      queueItemIds: readonly string[],
      settings: RequeueSettings,
      requeued?: readonly RequeuedItem[],
    ): Promise<number> {
      return requeue(tenantId, poolId, lockedItems(tenantId, poolId, queueItemIds), settings, requeued);
    },

    /** The letters that can be retried, oldest failure first; read without a lock. */
    async oldestRetryable(tenantId: TenantId, poolId: string, after: LetterPosition | undefined, limit: number) {
      const condition =
        after === undefined
          ? sql``
          : sql`and (last_failed_at, queue_item_id) > (${after.failedAt}::timestamptz, ${after.queueItemId})`;
      return sql<LetterPosition[]>`
        select queue_item_id, last_failed_at::text as failed_at
        from dead_letters where tenant_id = ${tenantId} and pool_id = ${poolId} and ${retryable} ${condition}
        order by last_failed_at, queue_item_id limit ${limit}`;
    },

    /** Requeues the items of the oldest failures; returns their number. */
    async retryOldest(tenantId: TenantId, poolId: string, limit: number, settings: RequeueSettings): Promise<number> {
      const matching = sql`tenant_id = ${tenantId} and pool_id = ${poolId} and ${retryable}`;
      return requeue(tenantId, poolId, oldestItems(matching, limit), settings);
    },

    /** Counts the failed letters that can be retried, and those that cannot. */
    async countFailed(tenantId: TenantId, poolId: string): Promise<{ retryable: number; exhausted: number }> {
      const [row] = await sql<{ retryable: number; exhausted: number }[]>`
        select count(*) filter (where retry_count < max_retries) as retryable,
          count(*) filter (where retry_count >= max_retries) as exhausted
        from dead_letters where tenant_id = ${tenantId} and pool_id = ${poolId} and state = 'failed'`;
      return row!;
    },

    /** Adds to the depth of a pool's queue. */
    async addDepth(tenantId: TenantId, poolId: string, shard: number, count: number): Promise<void> {
      await sql`
        insert into queue_depths (tenant_id, pool_id, shard, depth)
        values (${tenantId}, ${poolId}, ${shard}, ${count})
        on conflict (tenant_id, pool_id, shard) do update set depth = queue_depths.depth + excluded.depth`;
    },

    /** Changes the state of named letters; returns the number of changed letters. */
    async setState(
      tenantId: TenantId,
      poolId: string,
      queueItemIds: readonly string[],
      from: DeadLetterState,
      to: DeadLetterState,
    ): Promise<number> {
      const changed = await sql`
        update dead_letters set state = ${to}
        where tenant_id = ${tenantId} and pool_id = ${poolId} and queue_item_id = any(${queueItemIds as string[]})
          and state = ${from}`;
      return changed.count;
    },

    /** Deletes letters with their items and decisions, oldest failure first; returns their number. */
    async remove(tenantId: TenantId, poolId: string, removal: RemovalFilter, limit: number): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        with picked as (${oldestItems(matching(tenantId, poolId, removal), limit)}),
        letters as (
          delete from dead_letters
          where ${matching(tenantId, poolId, removal)} and queue_item_id = any(array(select id from picked))
          returning queue_item_id
        ), items as (
          delete from queue_items where tenant_id = ${tenantId} and id = any(array(select * from letters))
        )
        select count(*) from letters`;
      return row!.count;
    },

    async countMatching(tenantId: TenantId, poolId: string, removal: RemovalFilter): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(*) from dead_letters where ${matching(tenantId, poolId, removal)}`;
      return row!.count;
    },
  };

  function matching(tenantId: TenantId, poolId: string, { state, failedBefore }: RemovalFilter): Fragment {
    return sql`tenant_id = ${tenantId} and pool_id = ${poolId} and ${inState(state)}
      ${failedBefore === undefined ? sql`` : sql`and last_failed_at < ${failedBefore}`}`;
  }
}

function requeuedRow({ queueItemId, holdReason, dueAtMs, ...rest }: RequeuedItem): object {
  return { ...rest, id: queueItemId, hold_reason: holdReason, due_at_ms: dueAtMs ?? null };
}
