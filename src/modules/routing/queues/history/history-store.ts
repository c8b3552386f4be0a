import type { Fragment, Sql } from "../../../../platform/db/index.ts";

/** How items ended, as SQL expressions on their deleted rows. */
export interface ItemEnd {
  readonly state: Fragment;
  readonly endedAt: Fragment;
  /** The token that completed the item. */
  readonly doneToken: Fragment;
  readonly supersededById: Fragment;
  /** The result of a completed item. */
  readonly result?: Fragment;
}

/** The columns that an item's row and its row in the history have in common. */
export function historyColumns(sql: Sql): Fragment {
  return sql`
    tenant_id, id, pool_id, delivery, recipient_id, priority, expires_at, attempt, leased_at, retry, failures, singleton_group,
    debounce_group, throttle_group, concurrency_group, type, key, attributes, requirements, payload, decided_priority,
    outcome, decided_for, snapshot_digest, seed, evidence`;
}

/** Common table expression that moves ended items to the history. It reads the deleted rows from the expression `ended`. */
export function archiveItems(sql: Sql, { state, endedAt, doneToken, supersededById, result }: ItemEnd): Fragment {
  return sql`
    archived as (
      insert into routing_history (${historyColumns(sql)}, state, ended_at, done_token, superseded_by_id
        ${result === undefined ? sql`` : sql`, result`})
      select ${historyColumns(sql)}, ${state}, ${endedAt}, ${doneToken}, ${supersededById}
        ${result === undefined ? sql`` : sql`, ${result}`}
      from ended e
    )`;
}

/** As `archiveItems`, for decision-only items, which are completed when their outcome is reported or overdue. */
export function archiveTracked(sql: Sql, endedAt: Date): Fragment {
  return archiveItems(sql, {
    state: sql`'completed'`,
    endedAt: sql`${endedAt}::timestamptz`,
    doneToken: sql`''`,
    supersededById: sql`''`,
  });
}
