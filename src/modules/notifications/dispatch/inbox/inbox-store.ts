import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../../platform/paging/index.ts";

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
  readonly readAt: Date | null;
  readonly createdAt: Date;
}

/** A reader's position in an inbox. */
export interface InboxPosition {
  readonly xid: string;
  readonly id: string;
  /** Messages visible in this snapshot are skipped, for readers that want new messages only. */
  readonly snapshot: string | undefined;
  /** Older messages are not read. */
  readonly sinceMs: number;
}

/** Upper bound for the duration of a transaction that inserts a message. */
const slackMs = 5 * 60_000;

/** SQL queries for inboxes. Messages are inserted together with their deliveries. */
export function inboxStore(sql: Sql) {
  const columns = sql`tenant_id, subscriber_id, id, workflow_key, title, body, data, read_at, created_at`;
  return {
    async list(
      tenantId: TenantId,
      subscriberId: string,
      unreadOnly: boolean,
      page: Page,
    ): Promise<PageRows<InboxMessage>> {
      const where = sql`tenant_id = ${tenantId} and subscriber_id = ${subscriberId}
        ${unreadOnly ? sql`and read_at is null` : sql``}`;
      return readKeyset<InboxMessage>(sql, { columns, table: "notification_inbox", where, newestFirst: true }, page);
    },

    async countUnread(tenantId: TenantId, subscriberId: string): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from notification_inbox
        where tenant_id = ${tenantId} and subscriber_id = ${subscriberId} and read_at is null`;
      return row!.count;
    },

    /** Marks a message as read or unread; undefined when it does not exist. */
    async mark(
      tenantId: TenantId,
      subscriberId: string,
      id: string,
      readAt: Date | null,
    ): Promise<InboxMessage | undefined> {
      // Marking a message as read again keeps the first time.
      const [row] = await sql<InboxMessage[]>`
        update notification_inbox
        set read_at = case when ${readAt}::timestamptz is null then null else coalesce(read_at, ${readAt}) end
        where tenant_id = ${tenantId} and subscriber_id = ${subscriberId} and id = ${id}
        returning ${columns}`;
      return row;
    },

    /** Marks up to `limit` unread messages as read, oldest first; returns their ids. */
    async markAll(tenantId: TenantId, subscriberId: string, readAt: Date, limit: number): Promise<string[]> {
      const rows = await sql<{ id: string }[]>`
        update notification_inbox set read_at = ${readAt}
        where tenant_id = ${tenantId} and subscriber_id = ${subscriberId} and id = any(array(
          select id from notification_inbox
          where tenant_id = ${tenantId} and subscriber_id = ${subscriberId} and read_at is null
          order by id limit ${limit} for update))
        returning id`;
      return rows.map(({ id }) => id);
    },

    /** The position of a message; undefined when it does not exist. */
    async positionOf(tenantId: TenantId, subscriberId: string, id: string): Promise<InboxPosition | undefined> {
      const [row] = await sql<{ xid: string; createdAt: Date }[]>`
        select xid::text, created_at from notification_inbox
        where tenant_id = ${tenantId} and subscriber_id = ${subscriberId} and id = ${id}`;
      return row && { xid: row.xid, id, snapshot: undefined, sinceMs: row.createdAt.getTime() };
    },

    /** The current end of every inbox; later commits come after it. */
    async endPosition(nowMs: number): Promise<InboxPosition> {
      const [row] = await sql<{ xid: string; snapshot: string }[]>`
        select pg_snapshot_xmin(snapshot)::text as xid, snapshot::text from pg_current_snapshot() as snapshot`;
      return { xid: row!.xid, id: "", snapshot: row!.snapshot, sinceMs: nowMs };
    },

    /** The messages after a position, in order, up to the oldest open transaction. */
    async after(
      tenantId: TenantId,
      subscriberId: string,
      { xid, id, snapshot, sinceMs }: InboxPosition,
      limit: number,
    ): Promise<(InboxMessage & { xid: string })[]> {
      return sql<(InboxMessage & { xid: string })[]>`
        select ${columns}, xid::text from notification_inbox
        where tenant_id = ${tenantId} and subscriber_id = ${subscriberId} and created_at >= ${new Date(sinceMs - slackMs)}
          and (xid, id) > (${xid}::text::xid8, ${id}) and xid < pg_snapshot_xmin(pg_current_snapshot())
          ${snapshot === undefined ? sql`` : sql`and not pg_visible_in_snapshot(xid, ${snapshot}::pg_snapshot)`}
        order by notification_inbox.xid, id limit ${limit}`;
    },
  };
}
