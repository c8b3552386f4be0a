import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";

/** The most links of replacement chains that are followed. */
const linksMax = 10_000;

interface Superseded {
  readonly id: string;
  readonly survivorId: string;
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
  const superseded = items.filter(({ survivorId }) => survivorId !== "");
  if (superseded.length === 0) return [...items];
  const next = new Map(superseded.map(({ id, survivorId }) => [id, survivorId]));
  // "union" removes duplicates, so a shared part of chains is followed once.
  const links = await sql<Superseded[]>`
    with recursive chain as (
      select q.id, q.survivor_id from all_items q
      where q.tenant_id = ${tenantId} and q.id = any(${superseded.map(({ survivorId }) => survivorId)}::text[])
        and q.survivor_id <> ''
      union
      select q.id, q.survivor_id from chain c join all_items q on q.tenant_id = ${tenantId} and q.id = c.survivor_id
      where q.survivor_id <> ''
    )
    select id, survivor_id from chain limit ${linksMax}`;
  for (const { id, survivorId } of links) next.set(id, survivorId);
  return items.map((item) => (item.survivorId === "" ? item : { ...item, survivorId: lastOf(next, item.id) }));
}

function lastOf(next: ReadonlyMap<string, string>, id: string): string {
  let last = id;
  for (let steps = 0; steps <= next.size && next.has(last); steps++) last = next.get(last)!;
  return last;
}
