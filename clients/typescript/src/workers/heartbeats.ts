import { LeaseLostError } from "./work-failure.ts";
import type { Job, WorkProtocol } from "./work-protocol.ts";

/** Extends the leases of jobs, each when a third of its time has passed. */
export interface Heartbeats {
  /** Has to be called after jobs were added. */
  schedule(): void;
  stop(): void;
}

/** Jobs that are due within this share of their interval join a heartbeat, so that fewer calls are needed. */
const earlyShare = 0.3;

/** Keeps heartbeats that fail from following each other without a pause. */
const minimumWaitMs = 100;

/** Creates the heartbeats of a set of jobs. */
export function createHeartbeats<Work>(
  protocol: WorkProtocol<Work, never>,
  jobs: ReadonlySet<Job<Work>>,
  onError: (error: unknown) => void,
): Heartbeats {
  const beating = new Set<Job<Work>>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;

  const needsHeartbeat = (job: Job<Work>) => job.state !== "lost" && !beating.has(job);
  const intervalMs = ({ work }: Job<Work>) => protocol.leaseMs(work) / 3;

  function schedule(): void {
    clearTimeout(timer);
    if (isStopped) return;
    let dueAtMs = Number.POSITIVE_INFINITY;
    for (const job of jobs) if (needsHeartbeat(job)) dueAtMs = Math.min(dueAtMs, job.extendedAtMs + intervalMs(job));
    if (dueAtMs === Number.POSITIVE_INFINITY) return;
    timer = setTimeout(() => void beat(), Math.max(minimumWaitMs, dueAtMs - performance.now()));
  }

  async function beat(): Promise<void> {
    const nowMs = performance.now();
    const due = [...jobs].filter((job) => {
      return needsHeartbeat(job) && job.extendedAtMs + intervalMs(job) * (1 - earlyShare) <= nowMs;
    });
    for (const job of due) beating.add(job);
    schedule();
    try {
      const states = due.length === 0 ? [] : await protocol.heartbeat(due);
      for (const [at, job] of due.entries()) {
        if (states[at] === "extended") job.extendedAtMs = nowMs;
        else if (states[at] === "lost" || isExpired(job)) abandon(job);
      }
    } catch (error) {
      onError(error);
      for (const job of due) if (isExpired(job)) abandon(job);
    } finally {
      for (const job of due) beating.delete(job);
      schedule();
    }
  }

  /** Without a heartbeat in its time, a lease is over, whatever the service would say. */
  function isExpired({ work, extendedAtMs }: Job<Work>): boolean {
    return performance.now() - extendedAtMs > protocol.leaseMs(work);
  }

  return {
    schedule,
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

function abandon<Work>(job: Job<Work>): void {
  // The result of a finished job is on its way. Its report says whether the lease still counted.
  if (job.state !== "running") return;
  job.state = "lost";
  job.controller.abort(new LeaseLostError());
}
