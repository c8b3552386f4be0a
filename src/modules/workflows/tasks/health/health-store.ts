import type { Sql } from "../../../../platform/db/index.ts";
import type { HealthScope } from "../../../health-source.ts";
import type { KindCount } from "../overview/task-store.ts";

/** The most tasks that are counted. */
const countMax = 10_000;

/** Counts the due tasks of an environment by queue, kind and stored state. */
export async function countDueTasks(sql: Sql, { tenantId, environmentId }: HealthScope): Promise<KindCount[]> {
  return sql<KindCount[]>`
    select tenant_id, environment_id, queue, type, version_range, refused_by, state, count(*)::int as count from (
      select tenant_id, environment_id, queue, type, version_range, refused_by, state from workflow_tasks
      where tenant_id = ${tenantId} and environment_id = ${environmentId} and state in ('ready', 'incompatible')
        and ready_at <= now()
      limit ${countMax}
    ) due group by 1, 2, 3, 4, 5, 6, 7`;
}
