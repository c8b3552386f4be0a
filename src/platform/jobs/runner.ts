import { randomUUID } from "node:crypto";
import type { Clock } from "../clock/clock.ts";
import type { Database, Signals } from "../db/index.ts";
import type { Log } from "../log/log.ts";
import { completeJob, enqueueJobs, type LeasedJob, leaseJobs, type Return, releaseJob, renewJobs } from "./store.ts";

/** A job as its handler sees it. */
export interface Job {
  readonly tenantId: string;
  readonly id: string;
  readonly payload: unknown;
  readonly attempt: number;
  /** Aborted when the node stops, or when the job was given to another node: leave off what is not done. */
  readonly signal: AbortSignal;
}

/** Runs a job; throwing has it run again after a growing wait. */
export type JobHandler = (job: Job) => Promise<void>;

/** One kind of job. */
export interface JobKind {
  readonly kind: string;
  readonly handler: JobHandler;
  /** Runs by itself every so often, once over all nodes, under this tenant. */
  readonly every?: { readonly ms: number; readonly tenantId: () => string };
}

/** Runs jobs until it is stopped. */
export interface JobRunner {
  register(kind: JobKind): void;
  /** Looks for due jobs now instead of at the next poll. */
  wake(): void;
  /** Whether due jobs were looked for lately. */
  alive(): boolean;
  start(): void;
  /** Takes no more jobs and waits for those that run. */
  stop(): Promise<void>;
}

const topic = "jobs";
const parallel = 8;
/** The one job of a kind that runs by itself. */
const recurring = "recurring";

interface Parts {
  readonly db: Database;
  readonly signals: Signals;
  readonly clock: Clock;
  readonly log: Log;
  readonly pollMs?: number;
  /** How long a job is a node's own without a renewal. */
  readonly leaseMs?: number;
}

/** A job that runs on this node. */
interface Run {
  readonly job: LeasedJob;
  readonly lease: AbortController;
  heldUntilMs: number;
  ended: Promise<void>;
}

/** Makes this node's runner. Other nodes have theirs; leases keep them apart. */
export function createJobRunner({ db, signals, clock, log, pollMs = 1000, leaseMs = 30_000 }: Parts): JobRunner {
  const kinds = new Map<string, JobKind>();
  const running = new Set<Run>();
  const stopping = new AbortController();
  const timers: NodeJS.Timeout[] = [];
  const unplanned = new Set<JobKind>();
  let planning: Promise<void> | undefined;
  let looking: Promise<void> | undefined;
  let again = false;
  let lookedAtMs = 0;
  let stopWaking: (() => void) | undefined;

  function look(): void {
    // What became due during a look may have been missed by it.
    again = looking !== undefined;
    if (again || stopping.signal.aborted || running.size >= parallel || kinds.size === 0) return;
    looking = lease()
      .catch((error) => log.warn({ err: error }, "jobs cannot be leased"))
      .finally(() => {
        looking = undefined;
        if (again) look();
      });
  }

  async function lease(): Promise<void> {
    const heldUntilMs = performance.now() + leaseMs;
    const limit = parallel - running.size;
    const jobs = await leaseJobs(db.sql, { kinds: [...kinds.keys()], limit, token: randomUUID(), leaseMs });
    lookedAtMs = performance.now();
    for (const job of jobs) {
      const run: Run = { job, lease: new AbortController(), heldUntilMs, ended: Promise.resolve() };
      run.ended = runJob(run).finally(() => {
        running.delete(run);
        look();
      });
      running.add(run);
    }
  }

  async function runJob({ job, lease }: Run): Promise<void> {
    const { handler, every } = kinds.get(job.kind)!;
    const signal = AbortSignal.any([stopping.signal, lease.signal]);
    try {
      signal.throwIfAborted();
      // A job whose nodes died under it each time is not given to one more.
      if (isSpent(job, job.attempts - 1)) throw new Error("The node ended while it ran the job.");
      await handler({ ...job, attempt: job.attempts, signal });
      if (every !== undefined && isRecurring(job)) {
        await releaseJob(db.sql, job, { state: "ready", waitMs: every.ms, attempts: 0, error: "" });
      } else {
        await completeJob(db.sql, job);
      }
    } catch (error) {
      await releaseJob(db.sql, job, returnOf(job, error)).catch((cause) =>
        log.warn({ err: cause, job: job.id }, "job not handed back"),
      );
    }
  }

  function returnOf(job: LeasedJob, cause: unknown): Return {
    const error = (cause instanceof Error ? cause.message : String(cause)).slice(0, 500);
    // A stop is no fault of the job, and costs it no attempt.
    if (stopping.signal.aborted) return { state: "ready", waitMs: 0, attempts: job.attempts - 1, error };
    log.warn({ err: cause, job: job.id, kind: job.kind, attempt: job.attempts }, "job failed");
    const waitMs = Math.min(1000 * 2 ** (job.attempts - 1), 300_000);
    return { state: isSpent(job, job.attempts) ? "failed" : "ready", waitMs, attempts: job.attempts, error };
  }

  /** Writes the one row of every kind that runs by itself, whichever node is first; what fails is tried again. */
  async function plan(): Promise<void> {
    for (const each of [...unplanned]) {
      const { kind, every } = each;
      const now = clock.now();
      const job = { tenantId: every!.tenantId(), kind, runAt: new Date(now + every!.ms), dedupeKey: recurring };
      await enqueueJobs(db.sql, [job], now);
      unplanned.delete(each);
    }
  }

  function tick(): void {
    look();
    planning ??= plan()
      .catch((error) => log.warn({ err: error }, "jobs not planned"))
      .finally(() => {
        planning = undefined;
      });
  }

  async function renew(): Promise<void> {
    const runs = [...running];
    if (runs.length === 0) return;
    const askedAtMs = performance.now();
    try {
      const jobs = runs.map((run) => run.job);
      const held = await renewJobs(db.sql, jobs, leaseMs);
      for (const run of runs) run.heldUntilMs = held.has(run.job.id + run.job.leaseToken) ? askedAtMs + leaseMs : 0;
    } catch (error) {
      log.warn({ err: error }, "job leases cannot be renewed");
    }
    for (const { heldUntilMs, lease, job } of runs) {
      if (heldUntilMs < performance.now()) lease.abort(new Error(`The lease of job ${job.id} is lost.`));
    }
  }

  return {
    register(kind) {
      if (kinds.has(kind.kind)) throw new Error(`${kind.kind} is registered twice`);
      kinds.set(kind.kind, kind);
    },
    wake: () => signals.wake(topic),
    alive: () => running.size >= parallel || performance.now() - lookedAtMs < 10 * pollMs,
    start() {
      for (const kind of kinds.values()) if (kind.every !== undefined) unplanned.add(kind);
      stopWaking = signals.onWake(topic, look);
      timers.push(setInterval(tick, pollMs), setInterval(renew, leaseMs / 3));
      tick();
    },
    async stop() {
      stopping.abort(new Error("The node stops."));
      for (const timer of timers) clearInterval(timer);
      stopWaking?.();
      // What a look that is under way still leases goes back as well.
      await Promise.all([looking, planning]);
      await Promise.all([...running].map((run) => run.ended));
    },
  };
}

function isRecurring(job: LeasedJob): boolean {
  return job.dedupeKey === recurring;
}

/** Whether a job has no attempts left; one that runs by itself is never given up. */
function isSpent(job: LeasedJob, attempts: number): boolean {
  return attempts >= job.maxAttempts && !isRecurring(job);
}
