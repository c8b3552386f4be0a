import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { pageBytesMax } from "../../../platform/paging/index.ts";
import type { ItemDetails } from "./domain/queue-item.ts";

/**
 * Adds the parts of items that few items have: the result, the progress, the items that they wait for and their own retries. They are read
 * apart from the items, because the view of all items does not have them. The items are the newest first; if their details take
 * too many bytes for a page, the last ones are left out.
 */
export async function withDetails<Item extends { readonly id: string }>(
  sql: Sql,
  tenantId: TenantId,
  items: readonly Item[],
): Promise<(Item & ItemDetails)[]> {
  if (items.length === 0) return [];
  const ids = items.map(({ id }) => id);
  const rows = await sql<({ id: string } & ItemDetails)[]>`
    select id, null as result_json, progress, evidence::json -> 'after' as after, retry from queue_items
    where tenant_id = ${tenantId} and id = any(${ids}::text[])
    union all
    select id, result::text, null::json, evidence::json -> 'after', retry from routing_history
    where tenant_id = ${tenantId} and id = any(${ids}::text[]) and state is not null
    order by id desc`.firstRows(pageBytesMax);
  const complete = rows.isCut ? items.filter(({ id }) => id >= rows.at(-1)!.id) : items;
  const details = new Map(rows.map(({ id, ...each }) => [id, each]));
  return complete.map((item) => ({ ...item, ...(details.get(item.id) ?? noDetails) }));
}

const noDetails: ItemDetails = { resultJson: null, progress: null, after: null, retry: null };
