import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { Layers, OwnRow, SubscriberLayers } from "./domain/layers.ts";
import type { PreferenceSettings } from "./domain/settings.ts";
import { type LayerFilter, preferenceStore } from "./preference-store.ts";

/** Reads what layers 2 to 5 hold for a workflow and many subscribers, in one statement. */
export type LayersOf = (
  sql: Sql,
  tenantId: TenantId,
  filter: LayerFilter,
  subscriberIds: readonly string[],
) => Promise<SubscriberLayers>;

/** Reads them from the database: rows of subscribers are too many to be kept, and change whenever somebody clicks. */
export const layersOf: LayersOf = async (sql, tenantId, filter, subscriberIds) => {
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
  const ofOthers: Layers = { workflowKey, user, own: [] };
  return {
    of(subscriberId) {
      const rows = own.get(subscriberId);
      return rows === undefined ? ofOthers : { workflowKey, user, own: rows };
    },
  };
};
