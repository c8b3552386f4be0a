import { retryDelayMs, sleep } from "../transport/backoff.ts";
import { type ApiError, SwitchyardError } from "../transport/errors.ts";
import { createHeartbeats, type Heartbeats } from "./heartbeats.ts";
import { createReporter, type Reporter } from "./reporter.ts";
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
    run: (run) => new WorkerRun(options).run(run),
  };
}

/** One run of a worker, from its start to the end of its last handler. */
class WorkerRun<Work, Result> {
  readonly #options: Options<Work, Result>;
  readonly #jobs = new Set<Job<Work>>();
  readonly #handlers = new Set<Promise<void>>();
  readonly #reporter: Reporter<Work, Result>;
  readonly #heartbeats: Heartbeats;
  /** Ends calls that wait for work. */
  readonly #leasing = new AbortController();
  #isStopping = false;
  #wake = () => {};

  constructor(options: Options<Work, Result>) {
    const { protocol, onError } = options;
    this.#options = options;
    this.#reporter = createReporter(protocol, { onError, onReported: (job) => this.#jobs.delete(job) });
    this.#heartbeats = createHeartbeats(protocol, this.#jobs, onError);
  }

  async run({ signal, drainMs = 25_000 }: RunOptions): Promise<void> {
    if (signal.aborted) return;
    const stop = () => this.#stop();
    signal.addEventListener("abort", stop, { once: true });
    try {
      await this.#leaseUntilStopped();
    } finally {
      signal.removeEventListener("abort", stop);
      await this.#drain(drainMs);
      this.#heartbeats.stop();
    }
  }

  #stop(): void {
    this.#isStopping = true;
    this.#wake();
    setTimeout(() => this.#leasing.abort(), leaseGraceMs);
  }

  async #leaseUntilStopped(): Promise<void> {
    const { protocol, concurrency, onError } = this.#options;
    for (let failures = 0; !this.#isStopping; ) {
      const free = concurrency - this.#handlers.size;
      if (free === 0) {
        await this.#whenSlotsAreFree();
        continue;
      }
      try {
        const { signal } = this.#leasing;
        const leased = await this.#reporter.sendWith((reports) => protocol.lease(free, reports, signal));
        if (this.#isStopping) await this.#release(leased);
        else this.#start(leased);
        failures = 0;
      } catch (error) {
        if (this.#isStopping) return;
        if (!(error instanceof SwitchyardError && error.retryable)) throw error;
        onError(error);
        failures++;
        const waitMs = retryDelayMs(backoff, failures, (error as ApiError).retryAfterMs, Math.random());
        await sleep(waitMs, this.#leasing.signal).catch(() => {});
      }
    }
  }

  async #whenSlotsAreFree(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    // Handlers that end together are reported together, and free their slots for one lease.
    await sleep(1);
  }

  #start(leased: readonly Work[]): void {
    for (const work of leased) {
      const extendedAtMs = performance.now();
      const job: Job<Work> = { work, controller: new AbortController(), state: "running", extendedAtMs };
      this.#jobs.add(job);
      const handler = this.#perform(job).finally(() => {
        this.#handlers.delete(handler);
        this.#wake();
      });
      this.#handlers.add(handler);
    }
    this.#heartbeats.schedule();
  }

  async #perform(job: Job<Work>): Promise<void> {
    try {
      const result = await this.#options.handle(job);
      if (this.#finish(job)) this.#reporter.add({ job, result });
    } catch (error) {
      // Work that was stopped on purpose has not failed: it is given back.
      if (job.controller.signal.reason instanceof WorkerStoppedError) return;
      if (this.#finish(job)) this.#reporter.add({ job, failure: toWorkFailure(error) });
    }
  }

  /** Ends a job. Returns whether its result is to be reported. */
  #finish(job: Job<Work>): boolean {
    if (job.state === "lost") {
      this.#jobs.delete(job);
      return false;
    }
    job.state = "finished";
    return true;
  }

  async #drain(drainMs: number): Promise<void> {
    await endOf(this.#handlers, drainMs);
    const unfinished = [...this.#jobs].filter(({ state }) => state === "running");
    for (const { controller } of unfinished) controller.abort(new WorkerStoppedError());
    if (unfinished.length > 0) await endOf(this.#handlers, stopGraceMs);
    const released = unfinished.filter(({ state }) => state === "running");
    for (const job of released) job.state = "lost";
    await this.#release(released.map((job) => job.work));
    await this.#reporter.flush();
  }

  async #release(work: readonly Work[]): Promise<void> {
    const { protocol, onError } = this.#options;
    if (work.length > 0) await protocol.release(work).catch(onError);
  }
}

/** Resolves when all promises have ended or the time is over. */
async function endOf(promises: Iterable<Promise<void>>, timeMs: number): Promise<void> {
  const enough = new AbortController();
  await Promise.race([Promise.all(promises), sleep(timeMs, enough.signal).catch(() => {})]);
  enough.abort();
}
