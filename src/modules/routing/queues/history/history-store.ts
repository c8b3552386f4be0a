import type { Fragment, Sql } from "../../../../platform/db/index.ts";

/** How items ended, as SQL expressions on their deleted rows. */
export interface ItemEnd {
  readonly state: Fragment;
  readonly endedAt: Fragment;
  /** The token that completed the item. */
  readonly doneToken: Fragment;
  readonly survivorId: Fragment;
  /** The result of a completed item. */
  readonly result?: Fragment;
}

/** The columns that an item's row and its row in the history have in common. */
export function historyColumns(sql: Sql): Fragment {
  return sql`
    tenant_id, id, pool_id, delivery, recipient_id, priority, expires_at, attempt, leased_at, failures, singleton_group,
    debounce_group, throttle_group, concurrency_group, type, key, attributes, requirements, payload, decided_priority,
    outcome, decided_for, snapshot_digest, seed, evidence`;
}

/**
 * Common table expressions that move ended items to the history. They read the deleted rows from the expression `ended`.
 * An item that is not converted yet takes its decision along.
 */
export function archiveItems(sql: Sql, { state, endedAt, doneToken, survivorId, result }: ItemEnd): Fragment {
  return sql`
    unconverted as (
      delete from unconverted_decisions u where u.ctid = any(array(
        select u.ctid from ended cross join lateral (
          select u.ctid from unconverted_decisions u
          where ended.type is null and u.tenant_id = ended.tenant_id and u.id = ended.id limit 1) u))
      returning *
    ), archived as (
      insert into routing_history (${historyColumns(sql)}, state, ended_at, done_token, survivor_id
        ${result === undefined ? sql`` : sql`, result`})
      select e.tenant_id, e.id, e.pool_id, e.delivery, e.recipient_id, e.priority, e.expires_at, e.attempt, e.leased_at,
        e.failures, e.singleton_group, e.debounce_group, e.throttle_group, e.concurrency_group, coalesce(e.type, u.type),
        coalesce(e.key, u.key), coalesce(e.attributes, u.attributes), coalesce(e.requirements, u.requirements),
        coalesce(e.payload, u.payload), coalesce(e.decided_priority, u.priority), coalesce(e.outcome, u.outcome),
        coalesce(e.decided_for, u.recipient_id), coalesce(e.snapshot_digest, u.snapshot_digest),
        coalesce(e.seed, u.seed), coalesce(e.evidence, u.evidence), ${state}, ${endedAt}, ${doneToken}, ${survivorId}
        ${result === undefined ? sql`` : sql`, ${result}`}
      from ended e left join unconverted u on u.tenant_id = e.tenant_id and u.id = e.id
    )`;
}

/** As `archiveItems`, for decision-only items, which are completed when their outcome is reported or overdue. */
export function archiveTracked(sql: Sql, endedAt: Date): Fragment {
  return archiveItems(sql, {
    state: sql`'completed'`,
    endedAt: sql`${endedAt}::timestamptz`,
    doneToken: sql`''`,
    survivorId: sql`''`,
  });
}
