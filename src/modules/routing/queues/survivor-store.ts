import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";

/** The most links of replacement chains that are followed. */
const linksMax = 10_000;

interface Superseded {
  readonly id: string;
  readonly supersededById: string;
}

/**
 * Replaces each item's direct survivor with the last survivor of its chain: each item of a debounce window is superseded
 * by the next one, and only the last one proceeds.
 */
export async function withSurvivors<Item extends Superseded>(
  sql: Sql,
  tenantId: TenantId,
  items: readonly Item[],
): Promise<Item[]> {
  const superseded = items.filter(({ supersededById }) => supersededById !== "");
  if (superseded.length === 0) return [...items];
  const next = new Map(superseded.map(({ id, supersededById }) => [id, supersededById]));
  // "union" removes duplicates, so a shared part of chains is followed once.
  const links = await sql<Superseded[]>`
    with recursive chain as (
      select q.id, q.superseded_by_id from all_items q
      where q.tenant_id = ${tenantId} and q.id = any(${superseded.map(({ supersededById }) => supersededById)}::text[])
        and q.superseded_by_id <> ''
      union
      select q.id, q.superseded_by_id from chain c join all_items q on q.tenant_id = ${tenantId} and q.id = c.superseded_by_id
      where q.superseded_by_id <> ''
    )
    select id, superseded_by_id from chain limit ${linksMax}`;
  for (const { id, supersededById } of links) next.set(id, supersededById);
  return items.map((item) => (item.supersededById === "" ? item : { ...item, supersededById: lastOf(next, item.id) }));
}

function lastOf(next: ReadonlyMap<string, string>, id: string): string {
  let last = id;
  for (let steps = 0; steps <= next.size && next.has(last); steps++) last = next.get(last)!;
  return last;
}
