import { lowestUlid } from "../../../platform/ids/ulid.ts";
import { measuredTenants, type TenantUsage, type UsageSource } from "../../usage-source.ts";

const dayMs = 86_400_000;

/** Counts runs by the time of their ids. A run is in exactly one of the tables in every snapshot. */
export const runUsage: UsageSource = {
  meterKey: "service.runs",
  kind: "count",
  measure(sql, window) {
    const { from, until } = window;
    const first = lowestUlid(from.getTime());
    const end = lowestUlid(until.getTime());
    // Runs end after they begin. The day covers clocks that differ, and leaves out earlier partitions.
    const endedAfter = new Date(from.getTime() - dayMs);
    return sql<TenantUsage[]>`
      select t.id as tenant_id, live.count + ended.count as quantity from ${measuredTenants(sql, window)}
      cross join lateral (
        select count(*) as count from workflow_runs r where r.tenant_id = t.id and r.id >= ${first} and r.id < ${end}
      ) live
      cross join lateral (
        select count(*) as count from workflow_run_archive a
        where a.tenant_id = t.id and a.id >= ${first} and a.id < ${end} and a.ended_at >= ${endedAfter}
      ) ended
      where live.count + ended.count > 0`;
  },
};
