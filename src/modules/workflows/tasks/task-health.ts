import type { Backlog, Sql } from "../../../platform/db/index.ts";
import type { HealthScope, HealthSource, TaskHealth } from "../../health-source.ts";
import { shownState } from "./domain/wait-reason.ts";
import { readPresence } from "./overview/task-overview.ts";
import { type KindCount, readWaitingKinds, readWaitingQueues } from "./overview/task-store.ts";
import type { ExpiredLeaseSweeper } from "./sweep/expired-lease-sweeper.ts";

/** Tasks that wait for a worker. */
export const readyTasks: Backlog = {
  name: "workflow_tasks",
  rows: (sql) => sql`select ready_at, id from workflow_tasks where state in ('ready', 'incompatible')`,
};

/** The most tasks that are counted. */
const countMax = 10_000;

/** Creates the source of health reports about tasks. The sweeper makes lost tasks ready, so its passes are the heartbeat. */
export function createTaskHealth({ lastPassMs }: Pick<ExpiredLeaseSweeper, "lastPassMs">): HealthSource<TaskHealth> {
  return { lastPassMs, read: readTaskHealth };
}

/** Counts due tasks as their queues show them: workers that are present decide which tasks are incompatible. */
async function readTaskHealth(sql: Sql, scope: HealthScope): Promise<TaskHealth> {
  const { tenantId, environmentId } = scope;
  const filter = { environmentMode: "any", environmentId, queue: "" } as const;
  const [present, queues, counts] = await Promise.all([
    readPresence(sql, tenantId, filter),
    readWaitingQueues(sql, tenantId, filter),
    countDueTasks(sql, scope),
  ]);
  const kinds = await readWaitingKinds(sql, tenantId, queues);
  const oldest = kinds.filter((kind) => shownState(kind, present.matchersOf(kind)) === "ready");
  const countOf = (state: "ready" | "incompatible") =>
    counts
      .filter((kind) => shownState(kind, present.matchersOf(kind)) === state)
      .reduce((sum, { count }) => sum + count, 0);
  return {
    ready: countOf("ready"),
    oldestReadyMs: Math.max(0, ...oldest.map(({ dueInMs }) => -dueInMs)),
    incompatible: countOf("incompatible"),
  };
}

/** Counts the due tasks of an environment by queue, kind and stored state. */
async function countDueTasks(sql: Sql, { tenantId, environmentId }: HealthScope): Promise<KindCount[]> {
  return sql<KindCount[]>`
    select tenant_id, environment_id, queue, type, version_range, refused_by, state, count(*)::int as count from (
      select tenant_id, environment_id, queue, type, version_range, refused_by, state from workflow_tasks
      where tenant_id = ${tenantId} and environment_id = ${environmentId} and state in ('ready', 'incompatible')
        and ready_at <= now()
      limit ${countMax}
    ) due group by 1, 2, 3, 4, 5, 6, 7`;
}
