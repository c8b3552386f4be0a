import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";

/** A lease of an item. */
export interface LeaseRef {
  readonly id: string;
  readonly leaseToken: string;
}

/** Finds the leases that are still held and have not expired by the database's clock. */
export async function findHeldLeases(
  sql: Sql,
  tenantId: TenantId,
  leases: readonly LeaseRef[],
): Promise<readonly LeaseRef[]> {
  return sql`
    select q.id, q.lease_token
    from unnest(${leases.map(({ id }) => id)}::text[], ${leases.map(({ leaseToken }) => leaseToken)}::text[])
      as asked(id, lease_token)
    cross join lateral (
      select q.id, q.state, q.lease_token, q.lease_until from queue_items q
      where q.tenant_id = ${tenantId} and q.id = asked.id limit 1) q
    where q.state = 'leased' and q.lease_token = asked.lease_token and q.lease_until > now()`;
}
