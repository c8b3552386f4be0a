import { batchCharsMax } from "../batching/batcher.ts";
import { retryDelayMs, sleep } from "../transport/backoff.ts";
import { SwitchyardError } from "../transport/errors.ts";
import { LeaseLostError, WorkFailure } from "./work-failure.ts";
import type { Job, Leased, Report, ReportOutcome, WorkProtocol } from "./work-protocol.ts";

/** How long results wait for a call that leases work, or for other results. */
const lingerMs = 10;

const backoff = { initialMs: 200, maxMs: 5_000 };

/** How often a stopping worker sends its last reports. */
const lastTries = 5;

interface Callbacks<Work> {
  readonly onError: (error: unknown) => void;
  /** Is called when a job needs no further report. */
  readonly onReported: (job: Job<Work>) => void;
}

/** Collects the results of jobs and sends them in batches. */
export interface Reporter<Work, Result> {
  add(report: Report<Work, Result>): void;
  /** Sends what is ready with a call that also leases work. If the call fails, the reports are sent again later. */
  sendWith(send: (reports: readonly Report<Work, Result>[]) => Promise<Leased<Work>>): Promise<readonly Work[]>;
  /** Sends everything that is left. */
  flush(): Promise<void>;
}

/** Creates a reporter. A report can be repeated: the service returns the first outcome again. */
export function createReporter<Work, Result>(
  protocol: WorkProtocol<Work, Result>,
  { onError, onReported }: Callbacks<Work>,
): Reporter<Work, Result> {
  let pending: Report<Work, Result>[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let sending: Promise<void> | undefined;
  let failures = 0;

  /** Takes as many reports as one call can carry, and at least one. */
  function take(): readonly Report<Work, Result>[] {
    let count = 0;
    for (let chars = 0; count < Math.min(pending.length, protocol.reportsMax); count++) {
      chars += protocol.reportChars?.(pending[count]!) ?? 0;
      if (count > 0 && chars > batchCharsMax) break;
    }
    return pending.splice(0, count);
  }

  function settle(reports: readonly Report<Work, Result>[], outcomes: readonly ReportOutcome[]): void {
    failures = 0;
    for (const [at, report] of reports.entries()) {
      const { code, message } = outcomes[at]!;
      if (code === "INVALID_ARGUMENT" && report.failure === undefined) {
        // The result itself is refused, for example because it is too large. Another attempt would end in the same way.
        add({ job: report.job, failure: new WorkFailure(message, { code: "invalid_result", retryable: false }) });
        continue;
      }
      if (code !== "") onError(code === "LEASE_LOST" ? new LeaseLostError(message) : new Error(`${code}: ${message}`));
      onReported(report.job);
    }
  }

  /** Keeps reports for another try, unless the service has refused them for good. */
  function handleFailure(reports: readonly Report<Work, Result>[], error: unknown): void {
    failures++;
    if (error instanceof SwitchyardError && !error.retryable) for (const { job } of reports) onReported(job);
    else pending = [...reports, ...pending];
  }

  async function sendBatch(): Promise<void> {
    const reports = take();
    if (reports.length === 0) return;
    try {
      settle(reports, await protocol.report(reports));
    } catch (error) {
      handleFailure(reports, error);
      onError(error);
    }
  }

  function sendSoon(): void {
    if (timer !== undefined || sending !== undefined || pending.length === 0) return;
    const waitMs = failures === 0 ? lingerMs : retryDelayMs(backoff, failures, undefined, Math.random());
    timer = setTimeout(() => {
      timer = undefined;
      sending = sendBatch().finally(() => {
        sending = undefined;
        sendSoon();
      });
    }, waitMs);
  }

  function add(report: Report<Work, Result>): void {
    pending.push(report);
    sendSoon();
  }

  return {
    add,
    async sendWith(send) {
      const reports = take();
      try {
        const { work, outcomes } = await send(reports);
        settle(reports, outcomes);
        return work;
      } catch (error) {
        handleFailure(reports, error);
        throw error;
      } finally {
        sendSoon();
      }
    },
    async flush() {
      await sending;
      clearTimeout(timer);
      for (let tries = 1; pending.length > 0 && tries <= lastTries; tries++) {
        if (tries > 1) await sleep(retryDelayMs(backoff, tries, undefined, Math.random()));
        await sendBatch();
      }
    },
  };
}
