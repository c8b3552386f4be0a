import type { TenantId } from "../../../../platform/access/index.ts";
import type { Fragment, Sql } from "../../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../../platform/paging/index.ts";
import type { InboxMark } from "../domain/inbox-mark.ts";
import type { InboxPosition } from "../domain/inbox-position.ts";

/** A message in a subscriber's inbox. */
export interface InboxMessage {
  readonly tenantId: TenantId;
  readonly subscriberId: string;
  /** The id of its delivery. */
  readonly id: string;
  readonly workflowKey: string;
  readonly title: string;
  readonly body: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly seenAt: Date | null;
  readonly readAt: Date | null;
  readonly archivedAt: Date | null;
  readonly createdAt: Date;
}

/** A message of a stream, with the transaction and the time of its insertion, or of its last change. */
export interface StreamedMessage extends InboxMessage {
  readonly stamp: string;
  readonly at: Date;
}

export interface InboxFilter {
  readonly unreadOnly: boolean;
  readonly unseenOnly: boolean;
  readonly archived: boolean;
}

/** The numbers of messages that are not archived. */
export interface InboxCounts {
  readonly unreadCount: number;
  readonly unseenCount: number;
}

/** Upper bound for the duration of a transaction that inserts a message. */
const slackMs = 5 * 60_000;

/** SQL queries for inboxes. Messages are inserted together with their deliveries. */
export function inboxStore(sql: Sql) {
  const columns = sql`tenant_id, subscriber_id, id, workflow_key, title, body, data, seen_at, read_at, archived_at, created_at`;
  return {
    async list(
      tenantId: TenantId,
      subscriberId: string,
      { unreadOnly, unseenOnly, archived }: InboxFilter,
      page: Page,
    ): Promise<PageRows<InboxMessage>> {
      const where = sql`tenant_id = ${tenantId} and subscriber_id = ${subscriberId}
        and ${archived ? sql`archived_at is not null` : sql`archived_at is null`}
        ${unreadOnly ? sql`and read_at is null` : sql``} ${unseenOnly ? sql`and seen_at is null` : sql``}`;
      return readKeyset<InboxMessage>(sql, { columns, table: "notification_inbox", where, newestFirst: true }, page);
    },

    find: (tenantId: TenantId, subscriberId: string, id: string) =>
      sql<InboxMessage[]>`
        select ${columns} from notification_inbox
        where tenant_id = ${tenantId} and subscriber_id = ${subscriberId} and id = ${id}`.first(),

    async count(tenantId: TenantId, subscriberId: string): Promise<InboxCounts> {
      const [row] = await sql<InboxCounts[]>`
        select count(*)::int as unread_count, (count(*) filter (where seen_at is null))::int as unseen_count
        from notification_inbox
        where tenant_id = ${tenantId} and subscriber_id = ${subscriberId} and read_at is null and archived_at is null`;
      return row!;
    },

    /**
     * Sets the states of up to `limit` messages, oldest first; of all messages if no ids are given. Returns the ids of those
     * that changed. A state that a message has already keeps its time.
     */
    async mark(
      tenantId: TenantId,
      subscriberId: string,
      ids: readonly string[] | undefined,
      mark: InboxMark,
      now: Date,
      limit: number,
    ): Promise<string[]> {
      const states = statesOf(sql, mark, now);
      if (states.length === 0) return [];
      const rows = await sql<{ id: string }[]>`
        update notification_inbox set ${joined(sql, states, "assignment")},
          changed_at = ${now}, changed_stamp = current_stamp()
        where tenant_id = ${tenantId} and subscriber_id = ${subscriberId} and id = any(array(
          select id from notification_inbox
          where tenant_id = ${tenantId} and subscriber_id = ${subscriberId} and (${joined(sql, states, "differs")})
            ${ids === undefined ? sql`` : sql`and id = any(${ids as string[]}::text[])`}
          order by id limit ${limit} for update))
        returning id`;
      return rows.map(({ id }) => id);
    },

    /** The position of a message among the new ones; undefined when it does not exist. */
    async positionOf(tenantId: TenantId, subscriberId: string, id: string): Promise<InboxPosition | undefined> {
      const [row] = await sql<{ stamp: string; createdAt: Date }[]>`
        select stamp::text, created_at from notification_inbox
        where tenant_id = ${tenantId} and subscriber_id = ${subscriberId} and id = ${id}`;
      return row && { stamp: row.stamp, id, snapshot: undefined, sinceMs: row.createdAt.getTime() };
    },

    /** Whether a transaction has begun in this database. A cursor may come from before a restore. */
    async hasBegun(stamp: string): Promise<boolean> {
      const [row] = await sql<{ begun: boolean }[]>`
        select ${stamp}::text::bigint < stamp_base() + txid_snapshot_xmax(txid_current_snapshot()) as begun`;
      return row!.begun;
    },

    /** The current end of an inbox; later commits come after it. It is at most the newest message, like that of an event log. */
    async endPosition(tenantId: TenantId, subscriberId: string, nowMs: number): Promise<InboxPosition> {
      const [row] = await sql<{ stamp: string; snapshot: string }[]>`
        select least(stamp_horizon(), newest + 1)::text as stamp, stamp_snapshot(newest) as snapshot
        from (
          select coalesce(max(greatest(stamp, changed_stamp)), 0) as newest from notification_inbox
          where tenant_id = ${tenantId} and subscriber_id = ${subscriberId}
        ) inbox`;
      return { stamp: row!.stamp, id: "", snapshot: row!.snapshot, sinceMs: nowMs };
    },

    /** The newest messages that are not archived, in the order of streams, up to the oldest open transaction. */
    async newest(tenantId: TenantId, subscriberId: string, changes: boolean, limit: number) {
      const stamp = changes ? sql`coalesce(changed_stamp, stamp)` : sql`stamp`;
      const at = changes ? sql`coalesce(changed_at, created_at)` : sql`created_at`;
      return sql<StreamedMessage[]>`
        select newest.*, newest.position::text as stamp from (
          select ${columns}, ${stamp} as position, ${at} as at from notification_inbox
          where tenant_id = ${tenantId} and subscriber_id = ${subscriberId} and archived_at is null
            and ${stamp} < stamp_horizon()
          order by id desc limit ${limit}) newest
        order by newest.position, id`;
    },

    /** The messages, and on request the changed messages, after a position, in order, up to the oldest open transaction. */
    async after(tenantId: TenantId, subscriberId: string, position: InboxPosition, changes: boolean, limit: number) {
      const part = (stamp: Fragment, at: Fragment, where: Fragment) => sql`(
        select ${columns}, ${stamp}::text as stamp, ${at} as at, ${stamp} as position from notification_inbox
        where tenant_id = ${tenantId} and subscriber_id = ${subscriberId} and ${where}
          and (${stamp}, id) > (${position.stamp}::text::bigint, ${position.id})
          and ${stamp} < stamp_horizon()
          ${
            position.snapshot === undefined
              ? sql``
              : sql`and not txid_visible_in_snapshot(${stamp}, ${position.snapshot}::txid_snapshot)`
          }
        order by ${stamp}, id limit ${limit})`;
      const since = sql`created_at >= ${new Date(position.sinceMs - slackMs)}`;
      const inserted = part(sql`notification_inbox.stamp`, sql`created_at`, since);
      if (!changes) return sql<StreamedMessage[]>`${inserted}`;
      // A message that was inserted and changed after the position is sent once, as changed.
      return sql<StreamedMessage[]>`
        ${part(sql`notification_inbox.stamp`, sql`created_at`, sql`changed_stamp is null and ${since}`)}
        union all
        ${part(sql`changed_stamp`, sql`changed_at`, sql`changed_stamp is not null`)}
        order by position, id limit ${limit}`;
    },
  };
}

/** How one state is set, and which messages do not have it yet. */
interface StateChange {
  readonly assignment: Fragment;
  readonly differs: Fragment;
}

function statesOf(sql: Sql, mark: InboxMark, now: Date): StateChange[] {
  return (["seen", "read", "archived"] as const).flatMap((state) => {
    const column = sql(`${state}_at`);
    if (mark[state] === undefined) return [];
    return mark[state]
      ? [{ assignment: sql`${column} = coalesce(${column}, ${now})`, differs: sql`${column} is null` }]
      : [{ assignment: sql`${column} = null`, differs: sql`${column} is not null` }];
  });
}

function joined(sql: Sql, states: readonly StateChange[], part: keyof StateChange): Fragment {
  const separator = part === "assignment" ? sql`, ` : sql` or `;
  return states.map((state) => state[part]).reduce((left, right) => sql`${left}${separator}${right}`);
}
