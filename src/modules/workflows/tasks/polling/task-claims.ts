import { setTimeout as delay } from "node:timers/promises";
import { BoundedCache } from "../../../../platform/cache/bounded-cache.ts";
import { type Batcher, createBatcher, type Database } from "../../../../platform/db/index.ts";
import { type LeasedTask, queueName, type TaskKind, type TaskQueue } from "../domain/task.ts";
import {
  type ClaimedTask,
  leasePreferredTasks,
  leaseTasks,
  type PreferredRun,
  readQueuedKinds,
} from "./claim-store.ts";
import type { LeaseReturn } from "./lease-return.ts";
import { newTokenSuffixes } from "./lease-tokens.ts";
import type { PollRequest } from "./poll-request.ts";

/** The result of a scan. */
export interface TaskClaim {
  readonly tasks: readonly LeasedTask[];
  /** When a task that the worker can run becomes ready; undefined if none is known. */
  readonly retryInMs: number | undefined;
}

/** Leases tasks. Polls of the same queue, build and capabilities that arrive together share a statement. */
export type TaskClaims = ReturnType<typeof createTaskClaims>;

interface Dependencies {
  readonly db: Database;
  readonly leases: Pick<LeaseReturn, "giveBack">;
  /** A monotonic clock. */
  readonly nowMs?: () => number;
}

/** Requests that share statements, and the kinds of the queue's tasks that they can run. */
interface TaskClaimGroup {
  readonly batcher: Batcher<PollRequest, TaskClaim>;
  kinds: readonly TaskKind[];
  kindsReadAtMs: number;
}

const groupsMax = 10_000;
/** The slots that one statement fills at most. */
const slotsMax = 500;
/** How long the known kinds of a queue are used. Tasks of a new kind may wait that long in a busy queue. */
const kindsMaxAgeMs = 1000;
/** Pauses before the repeats of a scan whose tasks were all locked by other statements. */
const lockRetryMs = [0, 2, 10, 40];

export function createTaskClaims({ db, leases, nowMs = () => performance.now() }: Dependencies) {
  const groups = new BoundedCache<string, TaskClaimGroup>(groupsMax);

  function openGroup(first: PollRequest): TaskClaimGroup {
    const { tenantId, environmentId, queue, matcher, inProduction } = first;
    const scope = { tenantId, environmentId, queue };
    const opened: TaskClaimGroup = {
      kinds: [],
      kindsReadAtMs: Number.NEGATIVE_INFINITY,
      batcher: createBatcher({
        flush: (requests) => claimTogether(opened, scope, { matcher, inProduction }, requests),
        lanes: 2,
        concurrentMin: 32,
        batchMax: slotsMax,
        weigh: ({ slots }) => slots,
      }),
    };
    return opened;
  }

  async function claimTogether(
    group: TaskClaimGroup,
    scope: TaskQueue,
    { matcher, inProduction }: Pick<PollRequest, "matcher" | "inProduction">,
    requests: readonly PollRequest[],
  ): Promise<TaskClaim[]> {
    const present = requests.filter(({ signal }) => !signal.aborted);
    const filling = fillSlots(present, inProduction);
    let retryInMs: number | undefined;
    const lease = async (kinds: readonly TaskKind[]) => {
      if (kinds.length === 0) return;
      const preferred = filling.preferredRuns();
      if (preferred.length > 0) {
        const { sql } = db;
        filling.fill(await leasePreferredTasks(sql, scope, matcher.buildId, kinds, preferred, filling.allSlots));
      }
      const free = filling.freeSlots();
      if (free.workerIds.length === 0) return;
      filling.fill(await leaseTasks(db.genericPlans.sql, scope, matcher.buildId, kinds, free), free.positions);
    };
    try {
      if (present.length > 0 && nowMs() - group.kindsReadAtMs < kindsMaxAgeMs) await lease(group.kinds);
      for (const pauseMs of lockRetryMs) {
        if (filling.isStarted() || present.every(({ signal }) => signal.aborted)) break;
        const readAtMs = nowMs();
        const found = (await readQueuedKinds(db.genericPlans.sql, scope)).filter((kind) => matcher.canRun(kind));
        group.kinds = found;
        group.kindsReadAtMs = readAtMs;
        const due = found.filter(({ dueInMs }) => dueInMs <= 0);
        retryInMs = due.length > 0 || found.length === 0 ? undefined : Math.min(...found.map((kind) => kind.dueInMs));
        if (due.length === 0) break;
        if (pauseMs > 0) await delay(pauseMs);
        await lease(due);
      }
    } catch (error) {
      await leases.giveBack(filling.tasks());
      throw error;
    }
    const left = present.filter(({ signal }) => signal.aborted);
    // Callers that disconnected during the statements get nothing.
    void leases.giveBack(left.flatMap((request) => filling.tasksOf(request)));
    return requests.map((request) => ({
      tasks: request.signal.aborted ? [] : filling.tasksOf(request),
      retryInMs,
    }));
  }

  return {
    lease(request: PollRequest) {
      const key = `${queueName(request)}/${request.matcher.name}`;
      return groups.getOrCreate(key, () => openGroup(request)).batcher.run(request);
    },
    async idle() {
      await Promise.all([...groups].map(([, { batcher }]) => batcher.idle()));
    },
  };
}

/** Divides the slots of a statement among its requests, round-robin, and collects the tasks that fill them. */
function fillSlots(requests: readonly PollRequest[], inProduction: boolean) {
  const owners: PollRequest[] = [];
  const firstSlots = new Map<PollRequest, number>();
  for (const request of requests) {
    firstSlots.set(request, owners.length);
    for (let i = 0; i < request.slots; i++) owners.push(request);
  }
  const tokenSuffixes = newTokenSuffixes(inProduction, owners.length);
  const workerIds = owners.map(({ workerId }) => workerId);
  const byRequest = new Map(requests.map((request) => [request, [] as LeasedTask[]]));
  const filled = new Set<number>();
  let hasTriedPreferred = false;

  /** The free positions: the first of every request, then the second, and so on. */
  function freePositions(): number[] {
    const slotsLargest = Math.max(0, ...requests.map(({ slots }) => slots));
    const positions: number[] = [];
    for (let nth = 0; nth < slotsLargest; nth++) {
      for (const request of requests) {
        const position = firstSlots.get(request)! + nth;
        if (nth < request.slots && !filled.has(position)) positions.push(position);
      }
    }
    return positions;
  }

  return {
    allSlots: { workerIds, tokenSuffixes },
    isStarted: () => filled.size > 0,
    /** The runs that requests prefer. They are tried once. */
    preferredRuns(): PreferredRun[] {
      if (hasTriedPreferred) return [];
      hasTriedPreferred = true;
      return requests.flatMap((request) =>
        request.stickyRuns.map((runId) => ({
          runId,
          firstSlot: firstSlots.get(request)!,
          slotCount: request.slots,
        })),
      );
    },
    freeSlots() {
      const positions = freePositions();
      return {
        positions,
        workerIds: positions.map((position) => workerIds[position]!),
        tokenSuffixes: positions.map((position) => tokenSuffixes[position]!),
      };
    },
    fill(tasks: readonly ClaimedTask[], positions?: readonly number[]): void {
      for (const { slot, ...task } of tasks.toSorted((a, b) => a.slot - b.slot)) {
        const position = positions?.[slot] ?? slot;
        filled.add(position);
        byRequest.get(owners[position]!)!.push(task);
      }
    },
    tasksOf: (request: PollRequest): readonly LeasedTask[] => byRequest.get(request) ?? [],
    tasks: (): readonly LeasedTask[] => [...byRequest.values()].flat(),
  };
}
