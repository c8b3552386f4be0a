import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import type { WindowExtension } from "../../admission/index.ts";

/** The debounce windows that the items of one transaction make longer. */
export type WindowExtensions = ReturnType<typeof createWindowExtensions>;

interface Extension {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly untilMs: number;
  readonly payloads: readonly string[];
}

export function createWindowExtensions() {
  const extensions = new Map<string, Extension>();
  return {
    /** Adds an extension, with the payload that the waiting item takes. */
    add(tenantId: TenantId, { itemId: id, untilMs, collects }: WindowExtension, payloadJson: string | undefined) {
      const { payloads = [] } = extensions.get(tenantId + id) ?? {};
      const taken = collects && payloadJson !== undefined ? [payloadJson] : [];
      extensions.set(tenantId + id, { tenantId, id, untilMs, payloads: [...payloads, ...taken] });
    },
    isEmpty: () => extensions.size === 0,
    /** Changes the waiting items; false if one of them does not wait any more. */
    async save(tx: Sql, nowMs: number): Promise<boolean> {
      if (extensions.size === 0) return true;
      return (await extendWindows(tx, [...extensions.values()], nowMs)) === extensions.size;
    },
  };
}

/**
 * Extends the windows of waiting items and appends payloads to theirs, which have the form `{"payloads":[…]}`. The text is
 * appended, so that payloads stay as they were written. Rows are locked in the global lock order.
 */
async function extendWindows(tx: Sql, extensions: readonly Extension[], nowMs: number): Promise<number> {
  const texts = (value: (extension: Extension) => string | null) => extensions.map(value);
  const result = await tx`
    with input as (
      select * from unnest(${texts(({ tenantId }) => tenantId)}::text[], ${texts(({ id }) => id)}::text[],
        ${extensions.map(({ untilMs }) => Math.max(0, untilMs - nowMs))}::float8[],
        ${texts(({ payloads }) => (payloads.length === 0 ? null : payloads.join(",")))}::text[])
        as input(tenant_id, id, due_in_ms, payloads)
    ), locked as materialized (
      select n.* from (select * from input order by tenant_id collate "C", id collate "C") n cross join lateral (
        select q.state, q.hold_reason from queue_items q
        where q.tenant_id = n.tenant_id and q.id = n.id limit 1 for update
      ) q
      where q.state = 'held' and q.hold_reason = 'debounce'
    )
    update queue_items q set
      -- An item with a time of its own may be due later.
      due_at = greatest(q.due_at, now() + make_interval(secs => l.due_in_ms / 1000)),
      payload = case when l.payloads is null then q.payload
        else left(q.payload, -2) || ',' || l.payloads || ']}' end
    from locked l where q.tenant_id = l.tenant_id and q.id = l.id`;
  return result.count;
}
