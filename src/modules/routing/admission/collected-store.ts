import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { CollectedPayloads, GroupState } from "./domain/group.ts";

/** The payload of an item that collects payloads: `{"payloads":[…]}`. Others are appended to the text. */
export function toCollection(payloadJson: string): string {
  return `{"payloads":[${payloadJson}]}`;
}

/** A debounce group of a tenant, in its current state. */
interface DebounceGroup {
  readonly tenantId: TenantId;
  readonly state: GroupState;
}

/**
 * Reads what the waiting items of debounce groups have collected; returns the changed states. An item that was accepted
 * before its pool took all items cannot collect.
 */
export async function readCollected(sql: Sql, groups: readonly DebounceGroup[]): Promise<GroupState[]> {
  const held = groups.filter(({ state }) => state.kind === "debounce" && state.itemId !== "");
  if (held.length === 0) return [];
  const rows = await sql<(CollectedPayloads & { tenantId: TenantId; id: string })[]>`
    select q.* from unnest(${held.map(({ tenantId }) => tenantId)}::text[], ${held.map(({ state }) => state.itemId)}::text[])
      as n(tenant_id, id) cross join lateral (
      select q.tenant_id, q.id, json_array_length(q.payload::json -> 'payloads') as count,
        octet_length(q.payload) as bytes
      from queue_items q
      where q.tenant_id = n.tenant_id and q.id = n.id and q.payload like '{"payloads":[%]}'
      limit 1) q`;
  const collected = new Map(rows.map(({ tenantId, id, count, bytes }) => [tenantId + id, { count, bytes }]));
  return held.map(({ tenantId, state }) => ({ ...state, collected: collected.get(tenantId + state.itemId) }));
}
