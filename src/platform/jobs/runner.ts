import { randomUUID } from "node:crypto";
import { type Backoff, backoffMs } from "../backoff/backoff.ts";
import type { Clock } from "../clock/clock.ts";
import type { Database, Signals } from "../db/index.ts";
import type { Log } from "../log/log.ts";
import { createRepeatedTask } from "./repeated-task.ts";
import {
  completeJob,
  enqueueJobs,
  type JobRelease,
  type LeasedJob,
  leaseJobs,
  nextJobDue,
  releaseJob,
  renewJobs,
} from "./store.ts";

/** A job as its handler sees it. */
export interface Job {
  readonly tenantId: string;
  readonly id: string;
  readonly payload: unknown;
  readonly attempt: number;
  /** Aborted when the node stops or the lease is lost. The handler must then skip its remaining work. */
  readonly signal: AbortSignal;
}

/** Runs a job. If it throws, the job is retried with exponential back-off. */
export type JobHandler = (job: Job) => Promise<void>;

export interface JobKind {
  readonly kind: string;
  readonly handler: JobHandler;
  /**
   * Called before a job is given up: its last attempt failed, or ended with its node. It must be safe to repeat, because it is
   * called again until it succeeds.
   */
  readonly onExhausted?: (job: Omit<Job, "signal">) => Promise<void>;
  /** Makes the job recurring: it runs at this interval, once across all nodes, under this tenant. */
  readonly every?: { readonly ms: number; readonly tenantId: () => string };
}

/** Runs jobs until it is stopped. */
export interface JobRunner {
  register(kind: JobKind): void;
  /** Polls for due jobs now instead of at the next interval. */
  wake(): void;
  /** Rejects if the queue of jobs cannot be read. */
  ping(): Promise<unknown>;
  /** Whether the runner has polled for due jobs recently. */
  isAlive(): boolean;
  start(): void;
  /** Stops leasing jobs and waits for the running ones. */
  stop(): Promise<void>;
}

const topic = "jobs";
const retryBackoff: Backoff = { firstMs: 1000, maxMs: 300_000 };
const concurrencyMax = 8;
/** How recent the last poll of a runner is that works. */
const aliveMs = 10_000;
/** The dedupe key of a recurring job. */
const recurringKey = "recurring";

interface Dependencies {
  readonly db: Database;
  readonly signals: Signals;
  readonly clock: Clock;
  readonly log: Log;
  /** Interval of the polls that find what no signal and no look for due work has found. */
  readonly pollMs?: number;
  /** How long a lease lasts without a renewal. */
  readonly leaseMs?: number;
}

/** A job that is running on this node. */
interface Run {
  readonly job: LeasedJob;
  readonly lease: AbortController;
  heldUntilMs: number;
  ended: Promise<void>;
}

/** Creates this node's runner. Leases prevent two nodes from running the same job. */
export function createJobRunner({ db, signals, clock, log, pollMs = 5000, leaseMs = 30_000 }: Dependencies): JobRunner {
  const kinds = new Map<string, JobKind>();
  const running = new Set<Run>();
  const stopping = new AbortController();
  const unscheduled = new Set<JobKind>();
  let polledAtMs = 0;

  const polls = createRepeatedTask({
    async work() {
      await scheduleRecurring().catch((error) => log.warn({ err: error }, "recurring jobs not scheduled"));
      await lease();
    },
    maxWaitMs: pollMs,
    onError: (error) => log.warn({ err: error }, "jobs cannot be leased"),
    subscribe: ({ run, runWithin }) => [
      signals.onWake(topic, run),
      signals.onDue((sql) => nextJobDue(sql, [...kinds.keys()]), runWithin),
    ],
  });

  const renewals = createRepeatedTask({
    work: renew,
    maxWaitMs: leaseMs / 3,
    onError: (error) => log.warn({ err: error }, "job leases cannot be renewed"),
  });

  async function lease(): Promise<void> {
    if (stopping.signal.aborted || running.size >= concurrencyMax || kinds.size === 0 || clock.isFenced?.()) return;
    const heldUntilMs = performance.now() + leaseMs;
    const limit = concurrencyMax - running.size;
    const jobs = await leaseJobs(db.sql, { kinds: [...kinds.keys()], limit, token: randomUUID(), leaseMs });
    polledAtMs = performance.now();
    for (const job of jobs) {
      const run: Run = { job, lease: new AbortController(), heldUntilMs, ended: Promise.resolve() };
      run.ended = runJob(run).finally(() => {
        running.delete(run);
        polls.run();
      });
      running.add(run);
    }
  }

  async function runJob({ job, lease }: Run): Promise<void> {
    const { handler, every } = kinds.get(job.kind)!;
    const signal = AbortSignal.any([stopping.signal, lease.signal]);
    try {
      signal.throwIfAborted();
      // A job that ended its node on every attempt must not end another one.
      if (isExhausted(job, job.attempts - 1)) throw new Error("The node ended while it was running the job.");
      await handler({ ...job, attempt: job.attempts, signal });
      if (every !== undefined && isRecurring(job)) {
        await releaseJob(db.sql, job, { state: "ready", waitMs: every.ms, attempts: 0, error: "" });
      } else {
        await completeJob(db.sql, job);
      }
    } catch (error) {
      await release(job, releaseOf(job, error)).catch((cause) =>
        log.warn({ err: cause, job: job.id }, "job lease not released"),
      );
    }
  }

  async function release(job: LeasedJob, release: JobRelease): Promise<void> {
    // If this fails, the lease expires, and the next node to lease the job tries again.
    if (release.state === "failed") await kinds.get(job.kind)!.onExhausted?.({ ...job, attempt: job.attempts });
    await releaseJob(db.sql, job, release);
  }

  function releaseOf(job: LeasedJob, cause: unknown): JobRelease {
    const error = (cause instanceof Error ? cause.message : String(cause)).slice(0, 500);
    // A shutdown does not count as an attempt.
    if (stopping.signal.aborted) return { state: "ready", waitMs: 0, attempts: job.attempts - 1, error };
    log.warn({ err: cause, job: job.id, kind: job.kind, attempt: job.attempts }, "job failed");
    const waitMs = backoffMs(retryBackoff, job.attempts);
    return { state: isExhausted(job, job.attempts) ? "failed" : "ready", waitMs, attempts: job.attempts, error };
  }

  /** Writes the single row of every recurring kind. The first node wins; a failure is retried at the next poll. */
  async function scheduleRecurring(): Promise<void> {
    for (const each of [...unscheduled]) {
      const { kind, every } = each;
      const now = clock.now();
      const job = { tenantId: every!.tenantId(), kind, runAt: new Date(now + every!.ms), dedupeKey: recurringKey };
      await enqueueJobs(db.sql, [job], now);
      unscheduled.delete(each);
    }
  }

  async function renew(): Promise<void> {
    const runs = [...running];
    if (runs.length === 0) return;
    const requestedAtMs = performance.now();
    try {
      const jobs = runs.map((run) => run.job);
      const held = await renewJobs(db.sql, jobs, leaseMs);
      for (const run of runs) run.heldUntilMs = held.has(run.job.id + run.job.leaseToken) ? requestedAtMs + leaseMs : 0;
    } finally {
      for (const { heldUntilMs, lease, job } of runs) {
        if (heldUntilMs < performance.now()) lease.abort(new Error(`The lease of job ${job.id} is lost.`));
      }
    }
  }

  return {
    register(kind) {
      if (kinds.has(kind.kind)) throw new Error(`The job kind ${kind.kind} is registered twice.`);
      kinds.set(kind.kind, kind);
    },
    wake: () => signals.wake(topic),
    ping: () => db.sql`select from jobs limit 1`,
    isAlive: () => running.size >= concurrencyMax || performance.now() - polledAtMs < aliveMs,
    start() {
      for (const kind of kinds.values()) if (kind.every !== undefined) unscheduled.add(kind);
      void polls.start();
      void renewals.start();
    },
    async stop() {
      stopping.abort(new Error("The node is stopping."));
      // Jobs leased by a poll that is still running are released as well.
      await Promise.all([polls.stop(), renewals.stop()]);
      await Promise.all([...running].map((run) => run.ended));
    },
  };
}

function isRecurring(job: LeasedJob): boolean {
  return job.dedupeKey === recurringKey;
}

/** Whether a job has no attempts left. A recurring job is retried forever. */
function isExhausted(job: LeasedJob, attempts: number): boolean {
  return attempts >= job.maxAttempts && !isRecurring(job);
}
