import { lowestUlid } from "../../../../platform/ids/ulid.ts";
import { measuredTenants, type TenantUsage, type UsageSource } from "../../../usage-source.ts";

const dayMs = 86_400_000;

/** Counts routing decisions by the time of their ids. An item is in exactly one of the tables in every snapshot. */
export const decisionUsage: UsageSource = {
  meterKey: "service.routes",
  kind: "count",
  measure(sql, window) {
    const { from, until } = window;
    const first = lowestUlid(from.getTime());
    const end = lowestUlid(until.getTime());
    // Items end after they begin. The day covers clocks that differ, and leaves out earlier partitions.
    const endedAfter = new Date(from.getTime() - dayMs);
    return sql<TenantUsage[]>`
      select t.id as tenant_id, waiting.count + ended.count as quantity from ${measuredTenants(sql, window)}
      cross join lateral (
        select count(*) as count from queue_items q where q.tenant_id = t.id and q.id >= ${first} and q.id < ${end}
      ) waiting
      cross join lateral (
        select count(*) as count from routing_history h
        where h.tenant_id = t.id and h.id >= ${first} and h.id < ${end} and h.ended_at >= ${endedAfter}
      ) ended
      where waiting.count + ended.count > 0`;
  },
};
