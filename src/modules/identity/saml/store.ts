import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";

export function seenMessageStore(sql: Sql) {
  return {
    /** Remembers a message; false if it was accepted before, by any node. */
    async add(tenantId: TenantId, connectionId: string, messageId: string, expiresAt: Date): Promise<boolean> {
      const { count } = await sql`
        insert into saml_messages_seen (tenant_id, connection_id, message_id, expires_at)
        values (${tenantId}, ${connectionId}, ${messageId}, ${expiresAt})
        on conflict do nothing`;
      return count === 1;
    },

    async deleteExpired(before: Date, limit: number): Promise<number> {
      const { count } = await sql`
        delete from saml_messages_seen where (tenant_id, connection_id, message_id) in (
          select tenant_id, connection_id, message_id from saml_messages_seen where expires_at < ${before} limit ${limit})`;
      return count;
    },
  };
}
