import { nextWake, type Signals } from "../../../../platform/db/index.ts";
import { type LeasedTask, queueName, type TaskQueue } from "../domain/task.ts";
import type { TaskMetrics } from "../task-metrics.ts";
import type { WorkerRegistry } from "../workers/worker-registry.ts";
import type { LeaseReturn } from "./lease-return.ts";
import type { PollRequest } from "./poll-request.ts";
import type { TaskClaims } from "./task-claims.ts";
import type { WaitingPolls } from "./waiting-polls.ts";

/** Leases tasks to workers that poll. */
export type PollService = ReturnType<typeof createPollService>;

interface Dependencies {
  readonly signals: Signals;
  readonly claims: TaskClaims;
  readonly waiting: WaitingPolls;
  readonly leases: Pick<LeaseReturn, "giveBack">;
  readonly workers: Pick<WorkerRegistry, "leave">;
  readonly metrics: Pick<TaskMetrics, "changed" | "polled">;
}

const pollMs = 1000;

/** Signal topic for polls that wait on a queue. */
export function taskTopic(queue: TaskQueue): string {
  return `workflow-tasks/${queueName(queue)}`;
}

export function createPollService({ signals, claims, waiting, leases, workers, metrics }: Dependencies) {
  const waits = new Set<() => void>();
  let waitsEnded = false;

  /** Returns tasks to the caller, or gives them back if it has disconnected or lost its access during a wait. */
  async function handOver(request: PollRequest, tasks: readonly LeasedTask[], hasWaited: boolean) {
    try {
      if (hasWaited && tasks.length > 0) await request.recheckAccess();
    } catch (error) {
      await leases.giveBack(tasks);
      throw error;
    }
    if (!request.signal.aborted) return tasks;
    workers.leave(request);
    await leases.giveBack(tasks);
    return [];
  }

  /** Receives the tasks that are created while `work` is in progress. */
  async function receiveDuring(
    request: PollRequest,
    work: (delivered: Promise<void>) => Promise<unknown>,
  ): Promise<readonly LeasedTask[]> {
    const open = waiting.open(request);
    try {
      await work(open.delivered);
    } catch (error) {
      await leases.giveBack(await open.close());
      throw error;
    }
    return open.close();
  }

  async function receive(request: PollRequest, during: (() => Promise<void>) | undefined) {
    if (during !== undefined) {
      const created = await receiveDuring(request, during);
      if (created.length > 0) return handOver(request, created, false);
    }
    const deadline = performance.now() + request.waitMs;
    const isOver = () => waitsEnded || performance.now() >= deadline || request.signal.aborted;
    for (let hasWaited = false; ; hasWaited = true) {
      // Listen before the scan, so that a task that becomes ready during it wakes this worker.
      const waitMs = Math.max(0, Math.min(pollMs, deadline - performance.now()));
      const woken = nextWake(signals, taskTopic(request), request.signal, waitMs);
      try {
        // The first scan follows the access check of the call itself.
        if (hasWaited) await request.recheckAccess();
        const { tasks, retryInMs } = await claims.lease(request);
        if (tasks.length > 0 || isOver()) return await handOver(request, tasks, hasWaited);
        const waitStartMs = performance.now();
        waits.add(woken.cancel);
        const sooner = retryInMs !== undefined && retryInMs < pollMs ? retryInMs : undefined;
        const received = await receiveDuring(request, (delivered) => Promise.race([woken.within(sooner), delivered]));
        request.onWaited(performance.now() - waitStartMs);
        if (received.length > 0) return await handOver(request, received, true);
      } finally {
        waits.delete(woken.cancel);
        woken.cancel();
      }
    }
  }

  return {
    /**
     * Leases tasks to a worker; waits up to `waitMs` when there are none. `during` is work that may create tasks, such as
     * the completion of the worker's previous ones: its tasks go to this poll directly, and a scan follows otherwise.
     */
    async poll(request: PollRequest, during?: () => Promise<void>) {
      const startedMs = performance.now();
      const tasks = await receive(request, during);
      metrics.polled((performance.now() - startedMs) / 1000, tasks.length > 0);
      metrics.changed("leased", tasks.length);
      return tasks;
    },
    /** Ends current and future waits: polls return immediately, possibly without tasks. */
    endWaits() {
      waitsEnded = true;
      waiting.stop();
      for (const end of waits) end();
    },
  };
}
