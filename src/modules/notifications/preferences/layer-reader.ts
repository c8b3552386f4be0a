import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { Layers, OwnRow, SubscriberLayers } from "./domain/layers.ts";
import type { PreferenceSettings } from "./domain/settings.ts";
import { type LayerFilter, preferenceStore } from "./preference-store.ts";

/**
 * Reads layers 2 to 5 for a workflow and many subscribers in one statement. Subscribers' rows are too many to cache and
 * change often.
 */
export async function readLayers(
  sql: Sql,
  tenantId: TenantId,
  filter: LayerFilter,
  subscriberIds: readonly string[],
): Promise<SubscriberLayers> {
  const { workflowKey } = filter;
  let user: PreferenceSettings | undefined;
  const own = new Map<string, OwnRow[]>();
  for (const row of await preferenceStore(sql).layers(tenantId, filter, subscriberIds)) {
    if (row.layer === 2) {
      user = row.settings;
      continue;
    }
    const rows = own.get(row.subscriberId);
    if (rows === undefined) own.set(row.subscriberId, [row]);
    else rows.push(row);
  }
  const shared: Layers = { workflowKey, user, own: [] };
  return {
    of(subscriberId) {
      const rows = own.get(subscriberId);
      return rows === undefined ? shared : { workflowKey, user, own: rows };
    },
  };
}
