import { retryDelayMs, sleep } from "../transport/backoff.ts";
import { type ApiError, SwitchyardError } from "../transport/errors.ts";
import { createHeartbeats } from "./heartbeats.ts";
import { createReporter } from "./reporter.ts";
import { toWorkFailure, WorkerStoppedError } from "./work-failure.ts";
import type { Job, RunOptions, Worker, WorkProtocol } from "./work-protocol.ts";

const backoff = { initialMs: 200, maxMs: 10_000 };

/** How long a stopping worker waits for a call that leases work. Work that is lost with the call would wait for its lease. */
const leaseGraceMs = 300;

/** How long aborted handlers have to stop. */
const stopGraceMs = 1_000;

interface Options<Work, Result> {
  readonly protocol: WorkProtocol<Work, Result>;
  readonly handle: (job: Job<Work>) => Promise<Result>;
  readonly concurrency: number;
  readonly onError: (error: unknown) => void;
}

/** Creates a worker that leases work by a protocol and runs a handler for each piece of it. */
export function createWorker<Work, Result>(options: Options<Work, Result>): Worker {
  return {
    run: ({ signal, drainMs = 25_000 }) => work(options, { signal, drainMs }),
  };
}

async function work<Work, Result>(
  { protocol, handle, concurrency, onError }: Options<Work, Result>,
  { signal, drainMs }: Required<RunOptions>,
): Promise<void> {
  const jobs = new Set<Job<Work>>();
  const handlers = new Set<Promise<void>>();
  const reporter = createReporter(protocol, { onError, onReported: (job) => jobs.delete(job) });
  const heartbeats = createHeartbeats(protocol, jobs, onError);
  const leasing = new AbortController();
  let wake = () => {};

  function start(leased: readonly Work[]): void {
    for (const each of leased) {
      const job: Job<Work> = {
        ...{ work: each, controller: new AbortController() },
        ...{ state: "running", extendedAtMs: performance.now() },
      };
      jobs.add(job);
      const handler = perform(job).finally(() => {
        handlers.delete(handler);
        wake();
      });
      handlers.add(handler);
    }
    heartbeats.schedule();
  }

  async function perform(job: Job<Work>): Promise<void> {
    try {
      const result = await handle(job);
      finish(job, () => reporter.add({ job, result }));
    } catch (error) {
      // Work that was stopped on purpose has not failed: it is given back.
      if (job.controller.signal.reason instanceof WorkerStoppedError) return;
      finish(job, () => reporter.add({ job, failure: toWorkFailure(error) }));
    }
  }

  function finish(job: Job<Work>, report: () => void): void {
    if (job.state === "lost") {
      jobs.delete(job);
    } else {
      job.state = "finished";
      report();
    }
  }

  async function leaseUntilStopped(): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      const free = concurrency - handlers.size;
      if (free === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        // Handlers that end together are reported together, and free their slots for one lease.
        await sleep(1);
        continue;
      }
      try {
        start(await reporter.sendWith((reports) => protocol.lease(free, reports, leasing.signal)));
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof SwitchyardError && error.retryable)) throw error;
        onError(error);
        failures++;
        const waitMs = retryDelayMs(backoff, failures, (error as ApiError).retryAfterMs, Math.random());
        await sleep(waitMs, leasing.signal).catch(() => {});
      }
    }
  }

  async function drain(): Promise<void> {
    await endOf(handlers, drainMs);
    const unfinished = [...jobs].filter(({ state }) => state === "running");
    for (const { controller } of unfinished) controller.abort(new WorkerStoppedError());
    if (unfinished.length > 0) await endOf(handlers, stopGraceMs);
    const released = unfinished.filter(({ state }) => state === "running");
    for (const job of released) job.state = "lost";
    if (released.length > 0) await protocol.release(released.map((job) => job.work)).catch(onError);
    await reporter.flush();
  }

  const stop = () => {
    wake();
    setTimeout(() => leasing.abort(), leaseGraceMs);
  };
  if (signal.aborted) return;
  signal.addEventListener("abort", stop, { once: true });
  try {
    await leaseUntilStopped();
  } finally {
    signal.removeEventListener("abort", stop);
    await drain();
    heartbeats.stop();
  }
}

/** Resolves when all promises have ended or the time is over. */
async function endOf(promises: Iterable<Promise<void>>, timeMs: number): Promise<void> {
  const enough = new AbortController();
  await Promise.race([Promise.all(promises), sleep(timeMs, enough.signal).catch(() => {})]);
  enough.abort();
}
