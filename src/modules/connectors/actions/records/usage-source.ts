import { lowestUlid } from "../../../../platform/ids/ulid.ts";
import { measuredTenants, type TenantUsage, type UsageSource } from "../../../usage-source.ts";

/** Counts executions by the time of their ids, which is their start. */
export const executionUsage: UsageSource = {
  meterKey: "service.executions",
  kind: "count",
  measure(sql, window) {
    const { from, until } = window;
    return sql<TenantUsage[]>`
      select t.id as tenant_id, counted.count as quantity from ${measuredTenants(sql, window)}
      cross join lateral (
        select count(*) as count from connector_executions e
        where e.tenant_id = t.id and e.id >= ${lowestUlid(from.getTime())} and e.id < ${lowestUlid(until.getTime())}
          and e.started_at >= ${from} and e.started_at < ${until}
      ) counted
      where counted.count > 0`;
  },
};
