import type { TenantId } from "../../platform/access/index.ts";
import type { Sql } from "../../platform/db/index.ts";

/** Whether a tenant has a connection with this id. */
export type HasConnection = (sql: Sql, tenantId: TenantId, connectionId: string) => Promise<boolean>;

/** Tells it from the connections that are stored, whatever their state: it is for sending to look at that. */
export const storedConnection: HasConnection = async (sql, tenantId, connectionId) => {
  const found = await sql`
    select from connector_connections where tenant_id = ${tenantId} and id = ${connectionId}`;
  return found.length === 1;
};
