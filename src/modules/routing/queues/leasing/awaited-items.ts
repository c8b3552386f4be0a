import type { JsonValue } from "@bufbuild/protobuf";
import type { AwaitedItem } from "../../../../../gen/service/api/work_pb.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { jsonToValue } from "../../../../platform/protojson/index.ts";

/** An item that a leased item was routed to wait for. */
export interface AwaitedRow {
  readonly id: string;
  readonly key: string;
  readonly state: string;
  readonly result: JsonValue;
  /** Whether it has a result that is too large to be sent along. */
  readonly omitted: boolean;
}

/** The most bytes of the results that a leased item carries, as JSON. */
const resultsMax = 256 * 1024;
/** The most replacements of an item that are followed. */
const linksMax = 1000;

/** A leased item, and whether it was routed to wait for others. */
interface WaitedRow {
  readonly id: string;
  readonly waited: boolean;
}

/** Adds the items that leased items have waited for, in the order of the request. Few items have any, so usually no statement runs. */
export async function withAwaitedItems<Row extends WaitedRow>(
  sql: Sql,
  tenantId: TenantId,
  rows: readonly Row[],
): Promise<(Row & { readonly after?: readonly AwaitedRow[] })[]> {
  const ids = rows.flatMap(({ id, waited }) => (waited ? [id] : []));
  if (ids.length === 0) return rows as Row[];
  const found = new Map((await readAwaitedItems(sql, tenantId, ids)).map(({ id, after }) => [id, after]));
  return rows.map((row) => ({ ...row, after: found.get(row.id) ?? [] }));
}

/** Reads what items have waited for. A replaced item is the last one that replaced it. */
function readAwaitedItems(sql: Sql, tenantId: TenantId, ids: readonly string[]) {
  return sql<{ id: string; after: AwaitedRow[] | null }[]>`
    select q.id, (
      with recursive chain as (
        select each.nth, each.id collate "C" as id, 0 as links
        from json_array_elements_text(q.evidence::json #> '{after,ids}') with ordinality as each(id, nth)
        union all
        select c.nth, h.superseded_by_id, c.links + 1 from chain c join routing_history h
          on h.tenant_id = q.tenant_id and h.id = c.id and h.state = 'superseded' and h.superseded_by_id <> ''
        where c.links < ${linksMax}
      ), item as (
        select c.nth, c.id, coalesce(h.key, i.key, '') as key, coalesce(h.state, i.state, '') as state, h.result,
          sum(coalesce(octet_length(h.result::text), 0)) over (order by c.nth) as bytes
        from (select distinct on (nth) nth, id from chain order by nth, links desc) c
        left join lateral (select h.key, h.state, h.result from routing_history h
          where h.tenant_id = q.tenant_id and h.id = c.id and h.state is not null limit 1) h on true
        left join lateral (select i.key, i.state from queue_items i
          where i.tenant_id = q.tenant_id and i.id = c.id limit 1) i on true
      )
      select json_agg(json_build_object('id', id, 'key', key, 'state', state,
        'result', case when bytes <= ${resultsMax} then result end,
        'omitted', result is not null and bytes > ${resultsMax}) order by nth)
      from item) as after
    from queue_items q where q.tenant_id = ${tenantId} and q.id = any(${ids}::text[])`;
}

export function fromAwaited({ id, key, state, result, omitted }: AwaitedRow): AwaitedItem {
  return {
    ...{ $typeName: "service.api.AwaitedItem", queueItemId: id, key, state, resultOmitted: omitted },
    ...(result !== null && { result: jsonToValue(result) }),
  };
}
