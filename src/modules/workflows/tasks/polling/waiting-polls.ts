import type { TenantId } from "../../../../platform/access/index.ts";
import { type LeasedTask, leaseMs, queueName, type TaskQueue } from "../domain/task.ts";
import type { LeaseReturn } from "./lease-return.ts";
import { newTokenSuffixes } from "./lease-tokens.ts";
import type { PollRequest } from "./poll-request.ts";

/** A task that is about to be inserted. */
export interface NewTask extends TaskQueue {
  readonly tenantId: TenantId;
  readonly type: string;
  readonly versionRange: string;
  readonly attemptMs: number;
  /** 0 if the worker need not report. */
  readonly heartbeatMs: number;
  /** Without it, a report of the task needs a read. */
  readonly runId?: string;
}

/** The lease to insert a task with. */
export interface Reservation {
  readonly token: string;
  readonly workerId: string;
  readonly buildId: string;
  readonly leaseUntilMs: number;
  readonly attemptUntilMs: number;
}

/** The outcome of the commit that should have inserted a reserved task. */
export interface Settlement {
  readonly token: string;
  /** Undefined if the outcome is unknown; the task is then looked up. */
  readonly committed: boolean | undefined;
  readonly task: LeasedTask;
}

/** Hands new tasks to polls that wait on this node, so that they are inserted with their leases. */
export interface TaskDispatch {
  /** Offers a task that is about to be inserted. Returns the lease to insert it with, or undefined if no poll can take it. */
  reserve(task: NewTask, nowMs: number): Reservation | undefined;
  /** Delivers tasks that were committed, and frees the slots of those that were not. Every reservation is settled once. */
  settle(settlements: readonly Settlement[]): void;
  /** Wakes the polls of a queue on all nodes, after ready tasks were committed. */
  wake(tenantId: string, environmentId: string, queue: string): void;
}

/** A poll that can receive new tasks. */
export interface OpenPoll {
  /** Resolves when the first task is delivered. */
  readonly delivered: Promise<void>;
  /**
   * Ends the poll and returns what was delivered. Waits for commits in progress, until the caller disconnects or they
   * take too long; their tasks are then given back.
   */
  close(): Promise<LeasedTask[]>;
}

/** The polls of this node that can receive new tasks. */
export interface WaitingPolls extends Pick<TaskDispatch, "reserve" | "settle"> {
  open(request: PollRequest): OpenPoll;
  /** Reserves nothing from now on. */
  stop(): void;
}

interface Dependencies {
  readonly leases: Pick<LeaseReturn, "giveBack" | "giveBackLater">;
  /** Whether a task is stored with this lease. */
  readonly isLeased: (task: LeasedTask) => Promise<boolean>;
  readonly onDispatched: (count: number) => void;
}

/** A poll, and what it has received. */
interface Entry {
  readonly request: PollRequest;
  readonly tasks: LeasedTask[];
  free: number;
  /** Reservations that are not settled. */
  outstanding: number;
  /** Set when the poll has ended: later deliveries are given back. */
  ended: boolean;
  onDelivered: () => void;
  onSettled: () => void;
}

/** How long an ending poll waits for commits in progress. */
const settleMs = 2000;

/** Creates the polls of this node. */
export function createWaitingPolls({ leases, isLeased, onDispatched }: Dependencies): WaitingPolls {
  // Polls with the same capabilities are grouped, so that a task is matched once for all of them.
  const queues = new Map<string, Map<string, Set<Entry>>>();
  const reservations = new Map<string, Entry>();
  let isStopped = false;

  function add(entry: Entry): void {
    const name = queueName(entry.request);
    const groups = queues.get(name) ?? new Map<string, Set<Entry>>();
    queues.set(name, groups);
    const group = groups.get(entry.request.matcher.name);
    if (group === undefined) groups.set(entry.request.matcher.name, new Set([entry]));
    else group.add(entry);
  }

  function remove(entry: Entry): void {
    const name = queueName(entry.request);
    const groups = queues.get(name);
    const group = groups?.get(entry.request.matcher.name);
    if (groups === undefined || group === undefined) return;
    group.delete(entry);
    if (group.size === 0) groups.delete(entry.request.matcher.name);
    if (groups.size === 0) queues.delete(name);
  }

  function findPoll({ type, versionRange, ...task }: NewTask): Entry | undefined {
    const kind = { type, versionRange, refusedBy: [] };
    for (const group of queues.get(queueName(task))?.values() ?? []) {
      const [first] = group;
      if (!first!.request.matcher.canRun(kind)) continue;
      for (const entry of group) if (entry.free > 0 && !entry.request.signal.aborted) return entry;
    }
    return undefined;
  }

  function deliver(entry: Entry, task: LeasedTask): void {
    if (entry.ended || entry.request.signal.aborted) {
      void leases.giveBack([task]);
      return;
    }
    entry.tasks.push(task);
    onDispatched(1);
    entry.onDelivered();
  }

  function finish(entry: Entry): void {
    entry.outstanding--;
    if (entry.outstanding === 0) entry.onSettled();
  }

  /** Looks up a task whose commit has an unknown outcome. */
  async function resolveUnknown(entry: Entry, task: LeasedTask): Promise<void> {
    const isStored = await isLeased(task).catch(() => false);
    if (isStored) deliver(entry, task);
    else {
      // The commit may still be in progress.
      leases.giveBackLater(task);
      entry.free++;
    }
    finish(entry);
  }

  function waitForSettlements(entry: Entry): Promise<void> {
    const { signal } = entry.request;
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = () => resolve();
    const timer = setTimeout(end, settleMs);
    entry.onSettled = end;
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
    return promise.finally(() => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
    });
  }

  return {
    open(request) {
      const { promise: delivered, resolve } = Promise.withResolvers<void>();
      const entry: Entry = {
        request,
        tasks: [],
        free: request.slots,
        outstanding: 0,
        ended: false,
        onDelivered: resolve,
        onSettled: () => {},
      };
      if (!isStopped) add(entry);
      return {
        delivered,
        async close() {
          remove(entry);
          if (entry.outstanding > 0) await waitForSettlements(entry);
          entry.ended = true;
          return entry.tasks;
        },
      };
    },

    reserve(task, nowMs) {
      const entry = isStopped ? undefined : findPoll(task);
      if (entry === undefined) return undefined;
      const { workerId, matcher, inProduction } = entry.request;
      const token = `${task.runId ?? ""}${newTokenSuffixes(inProduction, 1)[0]!}`;
      entry.free--;
      entry.outstanding++;
      reservations.set(token, entry);
      return {
        token,
        workerId,
        buildId: matcher.buildId,
        leaseUntilMs: nowMs + leaseMs(task),
        attemptUntilMs: nowMs + task.attemptMs,
      };
    },

    settle(settlements) {
      for (const { token, committed, task } of settlements) {
        const entry = reservations.get(token);
        if (entry === undefined) continue;
        reservations.delete(token);
        if (committed === undefined) {
          void resolveUnknown(entry, task);
          continue;
        }
        if (committed) deliver(entry, task);
        else entry.free++;
        finish(entry);
      }
    },

    stop() {
      isStopped = true;
      queues.clear();
    },
  };
}
