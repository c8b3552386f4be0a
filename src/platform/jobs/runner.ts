import { randomUUID } from "node:crypto";
import type { Clock } from "../clock/clock.ts";
import type { Database, Signals } from "../db/index.ts";
import type { Log } from "../log/log.ts";
import { completeJob, enqueueJobs, type LeasedJob, leaseJobs, releaseJob, renewJobs } from "./store.ts";

/** A job as its handler sees it. */
export interface Job {
  readonly tenantId: string;
  readonly id: string;
  readonly payload: unknown;
  readonly attempt: number;
  /** Aborted when the node stops: hand back what is not done. */
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
const pollMs = 1000;
const leaseMs = 30_000;
const parallel = 8;

interface Parts {
  readonly db: Database;
  readonly signals: Signals;
  readonly clock: Clock;
  readonly log: Log;
}

/** Makes this node's runner. Other nodes have theirs; leases keep them apart. */
export function createJobRunner({ db, signals, clock, log }: Parts): JobRunner {
  const kinds = new Map<string, JobKind>();
  const token = randomUUID();
  const running = new Map<string, Promise<void>>();
  const stopping = new AbortController();
  const timers: NodeJS.Timeout[] = [];
  let looking = false;
  let lookedAtMs = 0;
  let stopWaking: (() => void) | undefined;

  async function look(): Promise<void> {
    if (looking || stopping.signal.aborted || running.size >= parallel || kinds.size === 0) return;
    looking = true;
    try {
      const now = clock.now();
      const jobs = await leaseJobs(db.sql, {
        kinds: [...kinds.keys()],
        limit: parallel - running.size,
        token,
        now: new Date(now),
        until: new Date(now + leaseMs),
      });
      lookedAtMs = performance.now();
      for (const job of jobs) {
        const run = runJob(job).finally(() => {
          running.delete(job.id);
          void look();
        });
        running.set(job.id, run);
      }
    } catch (error) {
      log.warn({ err: error }, "jobs cannot be leased");
    } finally {
      looking = false;
    }
  }

  async function runJob(job: LeasedJob): Promise<void> {
    const { handler, every } = kinds.get(job.kind)!;
    try {
      await handler({ ...job, attempt: job.attempts, signal: stopping.signal });
      await completeJob(db.sql, job, token);
      if (every !== undefined) await plan(job.kind, every);
    } catch (error) {
      await handBack(job, error).catch((cause) => log.warn({ err: cause, job: job.id }, "job not handed back"));
    }
  }

  async function handBack(job: LeasedJob, error: unknown): Promise<void> {
    const stopped = stopping.signal.aborted;
    const used = !stopped && job.attempts >= job.maxAttempts && kinds.get(job.kind)!.every === undefined;
    if (!stopped) log.warn({ err: error, job: job.id, kind: job.kind, attempt: job.attempts }, "job failed");
    const waitMs = stopped ? 0 : Math.min(1000 * 2 ** (job.attempts - 1), 300_000);
    await releaseJob(db.sql, job, token, {
      state: used ? "failed" : "ready",
      runAt: new Date(clock.now() + waitMs),
      error: error instanceof Error ? error.message.slice(0, 500) : String(error).slice(0, 500),
    });
  }

  async function plan(kind: string, { ms, tenantId }: NonNullable<JobKind["every"]>): Promise<void> {
    const now = clock.now();
    // One row in every period, whichever node writes it first.
    const runAt = new Date(now + ms);
    await enqueueJobs(db.sql, [{ tenantId: tenantId(), kind, runAt, dedupeKey: "recurring" }], now);
  }

  async function renew(): Promise<void> {
    if (running.size === 0) return;
    await renewJobs(db.sql, [...running.keys()], token, new Date(clock.now() + leaseMs)).catch((error) =>
      log.warn({ err: error }, "job leases cannot be renewed"),
    );
  }

  return {
    register(kind) {
      if (kinds.has(kind.kind)) throw new Error(`${kind.kind} is registered twice`);
      kinds.set(kind.kind, kind);
    },
    wake: () => signals.wake(topic),
    alive: () => running.size >= parallel || performance.now() - lookedAtMs < 10 * pollMs,
    start() {
      for (const { kind, every } of kinds.values()) {
        if (every !== undefined) plan(kind, every).catch((error) => log.warn({ err: error, kind }, "job not planned"));
      }
      stopWaking = signals.onWake(topic, () => void look());
      timers.push(setInterval(look, pollMs), setInterval(renew, leaseMs / 3));
      void look();
    },
    async stop() {
      stopping.abort();
      for (const timer of timers) clearInterval(timer);
      stopWaking?.();
      await Promise.all(running.values());
    },
  };
}
