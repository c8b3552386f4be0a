import type { WorkFailure } from "./work-failure.ts";

/** How a worker leases, extends, reports and gives back its work. Queues and workflow tasks have one each. */
export interface WorkProtocol<Work, Result> {
  /** The most reports of one call. */
  readonly reportsMax: number;
  /** The size of a report's result; reports without it are small. */
  reportChars?(report: Report<Work, Result>): number;
  /** Sends reports, leases the next work in the same call if possible, and waits for work if there is none. */
  lease(count: number, reports: readonly Report<Work, Result>[], signal: AbortSignal): Promise<Leased<Work>>;
  /** Sends reports. Returns one outcome for each, in order. */
  report(reports: readonly Report<Work, Result>[]): Promise<readonly ReportOutcome[]>;
  /** The time without a heartbeat after which the lease is over; Infinity if it needs none. */
  leaseMs(work: Work): number;
  /** Extends leases. Returns what became of each, in order. */
  heartbeat(jobs: readonly Job<Work>[]): Promise<readonly LeaseState[]>;
  /** Gives back work that the worker will not finish. */
  release(work: readonly Work[]): Promise<void>;
}

/** Leased work, and the outcomes of the reports of the same call. */
export interface Leased<Work> {
  readonly work: readonly Work[];
  readonly outcomes: readonly ReportOutcome[];
}

/** extended: the worker may go on. lost: it must stop. unknown: the heartbeat has failed. */
export type LeaseState = "extended" | "lost" | "unknown";

/** A piece of work in progress. */
export interface Job<Work> {
  readonly work: Work;
  readonly controller: AbortController;
  /** running: the handler has no result yet. finished: the result is to be reported. lost: nobody wants the result. */
  state: "running" | "finished" | "lost";
  /** When the lease was last extended, by `performance.now()`. */
  extendedAtMs: number;
  /** The progress that the next heartbeat carries. */
  progress?: unknown;
}

/** The result of a job. */
export type Report<Work, Result> =
  | { readonly job: Job<Work>; readonly result: Result; readonly failure?: undefined }
  | { readonly job: Job<Work>; readonly failure: WorkFailure };

/** What became of a report: an empty code if it was accepted. */
export interface ReportOutcome {
  readonly code: string;
  readonly message: string;
}

/** Settings that all workers have. */
export interface WorkerOptions {
  /** The number of handlers that run at the same time; default 10. */
  readonly concurrency?: number;
  /** Is told about failures that the worker handles by itself, such as a lost connection. */
  readonly onError?: (error: unknown) => void;
}

/** A worker. It does nothing before it runs. */
export interface Worker {
  /**
   * Works until the signal is aborted, then waits for its handlers, reports their results and returns. Handlers that need
   * longer than `drainMs` (default 25,000) are aborted, and their work is given back. Rejects if the service refuses the
   * worker for good, for example because its key is revoked.
   */
  run(options: RunOptions): Promise<void>;
}

/** When a worker stops. */
export interface RunOptions {
  readonly signal: AbortSignal;
  readonly drainMs?: number;
}
