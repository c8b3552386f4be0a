import { lowestUlid } from "../../../../platform/ids/ulid.ts";
import { measuredTenants, type TenantUsage, type UsageSource } from "../../../usage-source.ts";

/** Counts deliveries by the time of their ids. A delivery that was skipped costs nothing. */
export const deliveryUsage: UsageSource = {
  meterKey: "service.deliveries",
  kind: "count",
  measure(sql, window) {
    const { from, until } = window;
    return sql<TenantUsage[]>`
      select t.id as tenant_id, counted.count as quantity from ${measuredTenants(sql, window)}
      cross join lateral (
        select count(*) as count from notification_deliveries d
        where d.tenant_id = t.id and d.id >= ${lowestUlid(from.getTime())} and d.id < ${lowestUlid(until.getTime())}
          and d.status <> 'skipped'
      ) counted
      where counted.count > 0`;
  },
};
