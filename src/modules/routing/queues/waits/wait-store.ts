import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";

/** Identifies an item. */
export interface ItemKey {
  readonly tenantId: TenantId;
  readonly id: string;
}

/** Finds the items that have ended. */
export async function readEnded(sql: Sql, items: readonly ItemKey[]): Promise<ItemKey[]> {
  return sql`
    select n.tenant_id, n.id
    from unnest(${items.map(({ tenantId }) => tenantId)}::text[], ${items.map(({ id }) => id)}::text[]) as n(tenant_id, id)
    left join lateral (
      select q.state from queue_items q where q.tenant_id = n.tenant_id and q.id = n.id limit 1) q on true
    where q.state is null or q.state not in ('pending', 'held', 'ready', 'leased')`;
}
