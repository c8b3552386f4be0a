import { createWorkService, type LeasedItem, type LeaseItemsRequest, type WorkResult } from "../gen/work.ts";
import { isApiError } from "../transport/errors.ts";
import type { Transport } from "../transport/transport.ts";
import type { Job, LeaseState, Report, ReportOutcome, Worker, WorkerOptions, WorkProtocol } from "./work-protocol.ts";
import { createWorker } from "./worker.ts";

/** What a handler of items can say about its work. */
export interface ItemRating {
  readonly cost?: number;
  /** A quality score. */
  readonly score?: number;
}

/** What a handler of items gets besides its item. */
export interface ItemContext {
  /** Is aborted when the lease is lost or the worker must stop. */
  readonly signal: AbortSignal;
  /**
   * Reports how much of the work is done, in percent, with a note for people. Resolves when it is stored, and never rejects:
   * an error is told to `onError`.
   */
  progress(percent: number, note?: string): Promise<void>;
  /** Sets the cost and the score that are reported with the completion. */
  rate(rating: ItemRating): void;
}

/** Settings of a worker for the items of a pool. */
export interface QueueWorkerOptions extends WorkerOptions {
  readonly poolId: string;
  /** Only items of this recipient; any item of the pool by default. */
  readonly recipientId?: string;
  /** The lease of an item in seconds, which heartbeats extend; default 30. A crashed worker's items return after it. */
  readonly leaseSeconds?: number;
  /**
   * Processes an item. The item is completed when it returns, and failed when it throws. The returned value is the result of
   * the item, any JSON value of at most 64 KiB. Items can arrive more than once, so it must be able to repeat its work.
   */
  readonly handle: (item: LeasedItem, context: ItemContext) => Promise<unknown>;
}

/** How an item was completed. */
interface Completion extends ItemRating {
  readonly result: unknown;
  /** The length of the result as JSON. */
  readonly resultChars: number;
}

/** The longest wait for items in one call, in seconds. */
const waitS = 20;
const callGraceMs = 10_000;
const leaseDefaultS = 30;

/** The most items of one call. */
const callItemsMax = 1000;

/** The number of heartbeats that are sent at the same time. */
const heartbeatsAtOnce = 10;

/** Creates a worker for the items of a pool. */
export function createQueueWorker(client: { readonly transport: Transport }, options: QueueWorkerOptions): Worker {
  const { handle, concurrency = 10, onError = () => {} } = options;
  const service = createWorkService(client.transport);

  async function reportProgress(job: Job<LeasedItem>, percent: number, note: string): Promise<void> {
    const { pool_id, queue_item_id, lease_token } = job.work;
    const report = {
      pool_id,
      queue_item_id,
      lease_token,
      percent,
      note,
      lease_s: options.leaseSeconds ?? leaseDefaultS,
    };
    try {
      const sentAtMs = performance.now();
      // A report can be repeated without a key.
      await service.reportItemProgress(report, { idempotencyKey: null, signal: job.controller.signal });
      job.extendedAtMs = sentAtMs;
    } catch (error) {
      onError(error);
    }
  }

  return createWorker<LeasedItem, Completion>({
    protocol: queueProtocol(client.transport, options),
    async handle(job) {
      let rating: ItemRating = {};
      const result = await handle(job.work, {
        signal: job.controller.signal,
        progress: (percent, note = "") => reportProgress(job, percent, note),
        rate: (next) => {
          rating = next;
        },
      });
      // A value that is no JSON fails its own item, and not the call that reports it.
      const resultChars = JSON.stringify(result)?.length ?? 0;
      return { ...rating, result, resultChars };
    },
    concurrency,
    onError,
  });
}

type ItemReport = Report<LeasedItem, Completion>;

function queueProtocol(
  transport: Transport,
  { poolId, recipientId, leaseSeconds = leaseDefaultS }: QueueWorkerOptions,
): WorkProtocol<LeasedItem, Completion> {
  const service = createWorkService(transport);
  const pool = { pool_id: poolId, ...(recipientId !== undefined && { recipient_id: recipientId }) };

  async function report(reports: readonly ItemReport[]): Promise<readonly ReportOutcome[]> {
    const { results } = await service.leaseItems({ ...pool, ...toReports(reports), report_only: true });
    return toOutcomes(reports, results);
  }

  async function extend({ work }: Job<LeasedItem>): Promise<LeaseState> {
    const { queue_item_id, lease_token } = work;
    try {
      // A heartbeat can be repeated without a key.
      const lease = { pool_id: poolId, queue_item_id, lease_token, lease_s: leaseSeconds };
      await service.heartbeatItem(lease, { idempotencyKey: null, timeoutMs: (leaseSeconds * 1000) / 3 });
      return "extended";
    } catch (error) {
      return isApiError(error, "LEASE_LOST", "NOT_FOUND") ? "lost" : "unknown";
    }
  }

  return {
    reportsMax: callItemsMax,
    reportChars: (report) => (report.failure === undefined ? report.result.resultChars : 0),
    leaseMs: () => leaseSeconds * 1000,
    report,
    async lease(count, reports, signal) {
      const { items, results } = await service.leaseItems(
        {
          ...pool,
          ...toReports(reports),
          max_items: Math.min(count, callItemsMax),
          wait_s: waitS,
          lease_s: leaseSeconds,
        },
        { signal, timeoutMs: waitS * 1000 + callGraceMs },
      );
      return { work: items, outcomes: toOutcomes(reports, results) };
    },
    async heartbeat(jobs) {
      const states: LeaseState[] = [];
      for (let from = 0; from < jobs.length; from += heartbeatsAtOnce) {
        states.push(...(await Promise.all(jobs.slice(from, from + heartbeatsAtOnce).map(extend))));
      }
      return states;
    },
    async release(items) {
      for (let from = 0; from < items.length; from += callItemsMax) {
        const batch = items.slice(from, from + callItemsMax);
        const released = batch.map(({ queue_item_id, lease_token }) => ({ queue_item_id, lease_token }));
        await service.leaseItems({ ...pool, released, report_only: true });
      }
    },
  };
}

function toReports(reports: readonly ItemReport[]): Pick<LeaseItemsRequest, "completed" | "failed"> {
  const completed = reports.flatMap((report) => {
    if (report.failure !== undefined) return [];
    const { queue_item_id, lease_token } = report.job.work;
    const { cost, score, result } = report.result;
    return [{ queue_item_id, lease_token, cost, score, result }];
  });
  const failed = reports.flatMap(({ job, failure }) => {
    if (failure === undefined) return [];
    const { queue_item_id, lease_token } = job.work;
    const { code, message, retryable } = failure;
    return [{ queue_item_id, lease_token, reason_code: code, reason: message, retryable }];
  });
  return { completed, failed };
}

/** The results have the order of the request: first completed, then failed items. */
function toOutcomes(reports: readonly ItemReport[], results: readonly WorkResult[]): readonly ReportOutcome[] {
  const sent = [
    ...reports.filter(({ failure }) => failure === undefined),
    ...reports.filter(({ failure }) => failure !== undefined),
  ];
  const outcomes = new Map(
    sent.map((report, at) => [report, { code: results[at]!.error_code, message: results[at]!.error_message }]),
  );
  return reports.map((report) => outcomes.get(report)!);
}
