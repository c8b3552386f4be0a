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
  };
}
