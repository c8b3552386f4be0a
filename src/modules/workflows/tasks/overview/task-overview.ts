import type { Context } from "../../../../chain/call.ts";
import { requireEnvironmentAccess, type TenantId } from "../../../../platform/access/index.ts";
import { requireFound, type Sql } from "../../../../platform/db/index.ts";
import type { Page, PageRows } from "../../../../platform/paging/index.ts";
import { createMatcher, type Matcher } from "../domain/capabilities.ts";
import { queueName, type TaskQueue, type TaskState } from "../domain/task.ts";
import { queueWaitReason, shownState, type WaitReason, waitReason } from "../domain/wait-reason.ts";
import { readPresentWorkers, type SeenWorker } from "../workers/worker-store.ts";
import * as store from "./task-store.ts";

/** A task as it is shown to people: its state depends on the workers that poll its queue. */
export type ShownTask = store.StoredTask & { readonly reason: WaitReason | undefined };

/** A queue as it is shown to people. */
export interface ShownQueue {
  readonly environmentId: string;
  readonly queue: string;
  readonly ready: number;
  readonly leased: number;
  readonly incompatible: number;
  readonly countsCapped: boolean;
  readonly oldestReadyAgeMs: number;
  readonly reason: WaitReason | undefined;
  readonly workers: readonly SeenWorker[];
}

const workersMax = 1000;

export async function listTasks(
  { sql, tenantId }: Pick<Context, "sql" | "tenantId">,
  filter: store.TaskFilter,
  page: Page,
): Promise<PageRows<ShownTask>> {
  const present = await readPresence(sql, tenantId, filter);
  const shown = filter.state === "ready" || filter.state === "incompatible";
  const kinds = shown ? await readShownKinds(sql, tenantId, present) : { ready: [], incompatible: [] };
  const found = await store.listTasks(sql, tenantId, filter, kinds, page);
  return { ...found, rows: found.rows.map((task) => present.show(task)) };
}

/** Reads the tasks of a run, oldest first, for an explanation of what the run waits for. */
export async function tasksOfRun(sql: Sql, tenantId: TenantId, runId: string, limit: number): Promise<ShownTask[]> {
  const filter = { environmentMode: "any", environmentId: "", queue: "", runId, state: "" } as const;
  const { rows } = await listTasks({ sql, tenantId }, filter, { fetch: limit, offset: 0, after: undefined });
  return [...rows];
}

/** Reads a task with its input; throws if there is none or the caller may not use its environment. */
export async function getTask(context: Context, id: string) {
  const { sql, tenantId, principal } = context;
  const task = requireFound(await store.findTask(sql, tenantId, id), "workflow task");
  requireEnvironmentAccess(context, task.environmentKey);
  const { environmentId, queue } = task;
  const present = await readPresence(sql, tenantId, {
    environmentMode: principal.environmentMode,
    environmentId,
    queue,
  });
  return { ...task, ...present.show(task) };
}

/** Reads the names of all queues that have tasks or workers, sorted by environment and name. */
export async function readQueues(sql: Sql, tenantId: TenantId, filter: store.QueueFilter): Promise<TaskQueue[]> {
  const [present, waiting, leased] = await Promise.all([
    readPresence(sql, tenantId, filter),
    store.readWaitingQueues(sql, tenantId, filter),
    store.countLeased(sql, tenantId, filter),
  ]);
  const found = new Map<string, TaskQueue>();
  for (const { environmentId, queue } of [...present.workers, ...waiting, ...leased]) {
    const each = { tenantId, environmentId, queue };
    found.set(queueName(each), each);
  }
  return [...found.values()].toSorted((a, b) => (queueKey(a) < queueKey(b) ? -1 : 1));
}

/** Reads what is shown of queues. */
export async function describeQueues(
  sql: Sql,
  tenantId: TenantId,
  filter: store.QueueFilter,
  queues: readonly TaskQueue[],
): Promise<ShownQueue[]> {
  const [present, kinds, counts, leased] = await Promise.all([
    readPresence(sql, tenantId, filter),
    store.readWaitingKinds(sql, tenantId, queues),
    store.countWaiting(sql, tenantId, queues),
    store.countLeased(sql, tenantId, filter),
  ]);
  const kindsByQueue = Map.groupBy(kinds, queueName);
  const countsByQueue = Map.groupBy(counts, queueName);
  const leasedByQueue = new Map(leased.map((each) => [queueName({ tenantId, ...each }), each]));
  return queues.map((queue): ShownQueue => {
    const name = queueName(queue);
    const waiting = (kindsByQueue.get(name) ?? []).map((kind) => ({ ...kind, isDue: kind.dueInMs <= 0 }));
    const counted = countsByQueue.get(name) ?? [];
    const matchers = present.matchersOf(queue);
    const running = leasedByQueue.get(name);
    const sumOf = (some: readonly store.KindCount[]) => some.reduce((sum, { count }) => sum + count, 0);
    const countOf = (state: TaskState) => sumOf(counted.filter((kind) => shownState(kind, matchers) === state));
    return {
      environmentId: queue.environmentId,
      queue: queue.queue,
      ready: countOf("ready"),
      incompatible: countOf("incompatible"),
      leased: running?.leased ?? 0,
      countsCapped: running?.isCapped === true || sumOf(counted) >= store.waitingCountMax,
      oldestReadyAgeMs: Math.max(0, ...waiting.map(({ dueInMs }) => -dueInMs)),
      reason: queueWaitReason(waiting, matchers, running !== undefined),
      workers: present.workersOf(queue),
    };
  });
}

/** The key by which queues are sorted. */
export function queueKey({ environmentId, queue }: Pick<ShownQueue, "environmentId" | "queue">): string {
  return `${environmentId}/${queue}`;
}

/** The workers that are present, and the states that follow from them. */
export async function readPresence(sql: Sql, tenantId: TenantId, filter: store.QueueFilter) {
  const workers = await readPresentWorkers(sql, tenantId, store.inQueues(sql, tenantId, filter), workersMax);
  const byQueue = Map.groupBy(workers, queueName);
  const matchers = new Map<string, readonly Matcher[]>();
  for (const [name, here] of byQueue) {
    const distinct = new Map(
      here.map(({ buildId, capabilities }) => {
        const matcher = createMatcher(buildId, capabilities);
        return [matcher.name, matcher];
      }),
    );
    matchers.set(name, [...distinct.values()]);
  }
  const matchersOf = (queue: TaskQueue) => matchers.get(queueName(queue)) ?? [];
  return {
    workers,
    workersOf: (queue: TaskQueue) => byQueue.get(queueName(queue)) ?? [],
    matchersOf,
    show(task: store.StoredTask): ShownTask {
      const here = matchersOf(task);
      return { ...task, state: shownState(task, here), reason: waitReason(task, here, false) };
    },
  };
}

async function readShownKinds(
  sql: Sql,
  tenantId: TenantId,
  { workers, matchersOf }: Awaited<ReturnType<typeof readPresence>>,
): Promise<store.ShownKinds> {
  const queues = [...new Map(workers.map((worker) => [queueName(worker), worker])).values()];
  const kinds = await store.readWaitingKinds(sql, tenantId, queues);
  const groups = Map.groupBy(kinds, (kind) => shownState({ ...kind, state: "ready" }, matchersOf(kind)));
  return { ready: groups.get("ready") ?? [], incompatible: groups.get("incompatible") ?? [] };
}
