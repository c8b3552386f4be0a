import type { Context } from "../../../../chain/call.ts";
import { requireEnvironmentAccess, type TenantId } from "../../../../platform/access/index.ts";
import { notFound, type Sql } from "../../../../platform/db/index.ts";
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

/** Reads a page of tasks. */
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

/** Reads a task with its input; throws if there is none or the caller may not use its environment. */
export async function getTask(context: Context, id: string) {
  const { sql, tenantId, principal } = context;
  const task = await store.findTask(sql, tenantId, id);
  if (task === undefined) throw notFound("workflow task");
  requireEnvironmentAccess(context, task.environmentKey);
  const { environmentId, queue } = task;
  const present = await readPresence(sql, tenantId, {
    environmentMode: principal.environmentMode,
    environmentId,
    queue,
  });
  return { ...task, ...present.show(task) };
}

/** Reads all queues that have tasks or workers, sorted by environment and name, without their tasks. */
export async function readQueues(sql: Sql, tenantId: TenantId, filter: store.QueueFilter): Promise<ShownQueue[]> {
  const [present, waiting, leased] = await Promise.all([
    readPresence(sql, tenantId, filter),
    store.readWaitingQueues(sql, tenantId, filter),
    store.countLeased(sql, tenantId, filter),
  ]);
  const found = [...present.workers, ...waiting, ...leased].map(({ environmentId, queue }) => ({
    tenantId,
    environmentId,
    queue,
  }));
  const queues = [...new Map(found.map((queue) => [queueName(queue), queue])).values()];
  const kinds = Map.groupBy(await store.readCountedKinds(sql, tenantId, queues), queueName);
  const leasedByQueue = new Map(leased.map((each) => [queueName({ tenantId, ...each }), each]));
  const shown = queues.map((queue): ShownQueue => {
    const { environmentId } = queue;
    const name = queueName(queue);
    const here = (kinds.get(name) ?? []).map((kind) => ({ ...kind, isDue: kind.dueInMs <= 0 }));
    const matchers = present.matchersOf(queue);
    const running = leasedByQueue.get(name);
    const countOf = (state: TaskState) =>
      here.filter((kind) => shownState(kind, matchers) === state).reduce((sum, { count }) => sum + count, 0);
    return {
      environmentId,
      queue: queue.queue,
      ready: countOf("ready"),
      incompatible: countOf("incompatible"),
      leased: running?.leased ?? 0,
      countsCapped: running?.isCapped === true || here.some(({ count }) => count >= store.kindCountMax),
      oldestReadyAgeMs: Math.max(0, ...here.map(({ dueInMs }) => -dueInMs)),
      reason: queueWaitReason(here, matchers, running !== undefined),
      workers: present.workersOf(queue),
    };
  });
  return shown.toSorted((a, b) => (queueKey(a) < queueKey(b) ? -1 : 1));
}

/** The key by which queues are sorted. */
export function queueKey({ environmentId, queue }: Pick<ShownQueue, "environmentId" | "queue">): string {
  return `${environmentId}/${queue}`;
}

/** The workers that were seen in the last minute, and the states that follow from them. */
async function readPresence(sql: Sql, tenantId: TenantId, filter: store.QueueFilter) {
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
  const kinds = await store.readCountedKinds(sql, tenantId, queues);
  const groups = Map.groupBy(kinds, (kind) => shownState({ ...kind, state: "ready" }, matchersOf(kind)));
  return { ready: groups.get("ready") ?? [], incompatible: groups.get("incompatible") ?? [] };
}
