import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../../platform/paging/index.ts";

/** A message that no integration served, stored for developers. */
export interface OutboxMessage {
  readonly tenantId: TenantId;
  /** The id of its delivery. */
  readonly id: string;
  readonly workflowKey: string;
  readonly channel: string;
  readonly recipient: string;
  readonly subject: string;
  readonly title: string;
  readonly body: string;
  readonly html: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly createdAt: Date;
}

/** SQL queries for the outbox. Messages are inserted together with their deliveries. */
export function outboxStore(sql: Sql) {
  const columns = sql`tenant_id, id, workflow_key, channel, recipient, subject, title, body, html, data, created_at`;
  return {
    async list(tenantId: TenantId, channel: string | undefined, page: Page): Promise<PageRows<OutboxMessage>> {
      const where = sql`tenant_id = ${tenantId}`;
      const filter = channel === undefined ? undefined : sql`channel = ${channel}`;
      const selection = { columns, table: "notification_outbox", where, filter, newestFirst: true };
      return readKeyset<OutboxMessage>(sql, selection, page);
    },
  };
}
