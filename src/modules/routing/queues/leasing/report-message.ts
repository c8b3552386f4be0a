import { create, type JsonValue, toJson } from "@bufbuild/protobuf";
import { timestampFromMs, type Value, ValueSchema } from "@bufbuild/protobuf/wkt";
import {
  type CompletedItem,
  CompletedItemSchema,
  type FailedItem,
  FailedItemSchema,
  type LeasedRef,
  LeasedRefSchema,
  type LeaseItemsRequest,
  type WorkResult,
  WorkResultSchema,
} from "../../../../../gen/service/api/work_pb.ts";
import type { Context } from "../../../../chain/call.ts";
import { Failure, fail, invalid } from "../../../../errors/index.ts";
import { createMessageChecker } from "../../../../platform/validation/index.ts";
import type { PoolSnapshot } from "../../pools/index.ts";
import type { ReportResult, WorkReport } from "../completion/completion-service.ts";
import type { WorkFailure } from "../domain/retry-policy.ts";

/** The reports of a call. An invalid report does not affect the others. */
export interface Reports {
  readonly valid: readonly WorkReport[];
  /** Returns one result per report, in order, from the results of the valid ones. */
  toResults(finished: readonly ReportResult[]): WorkResult[];
}

/** Converts the reports of WorkService's calls. */
export type ReportReader = ReturnType<typeof createReportReader>;

interface Entry {
  readonly report: WorkReport;
  readonly refusal: Failure | undefined;
}

const resultBytesMax = 64 * 1024;

const noReports: Reports = { valid: [], toResults: () => [] };

export function createReportReader() {
  const checkRef = createMessageChecker(LeasedRefSchema);
  const checkCompleted = createMessageChecker(CompletedItemSchema);
  const checkFailed = createMessageChecker(FailedItemSchema);
  return {
    /** Reads the items of CompleteItems or FailItems; `failure` is undefined for completed items. */
    readBatch(
      context: Context,
      snapshot: PoolSnapshot,
      items: readonly LeasedRef[],
      failure: WorkFailure | undefined,
    ): Reports {
      const toReport = reportOf(context, snapshot);
      return collect(
        items.map((item) => {
          const result = failure === undefined ? toResult(item) : refuseResult(item);
          return toEntry({ ...toReport(item), failure }, checkRef(item), result);
        }),
      );
    },
    /** Reads the reports of LeaseItems: the completed items, then the failed ones, then those given back. */
    readReports(
      context: Context,
      snapshot: PoolSnapshot,
      { completed, failed, released }: Pick<LeaseItemsRequest, "completed" | "failed" | "released">,
    ): Reports {
      if (completed.length + failed.length + released.length === 0) return noReports;
      const toReport = reportOf(context, snapshot);
      const fromCompleted = (item: CompletedItem): Entry => {
        const report = { ...toReport(item), failure: undefined, cost: item.cost, score: item.score };
        return toEntry(report, checkCompleted(item), toResult(item));
      };
      const fromFailed = (item: FailedItem): Entry => ({
        report: { ...toReport(item), failure: failureOf(item) },
        refusal: checkFailed(item),
      });
      const fromReleased = (item: LeasedRef): Entry => {
        const report = { ...toReport(item), failure: undefined, released: true };
        return toEntry(report, checkRef(item), refuseResult(item));
      };
      return collect([...completed.map(fromCompleted), ...failed.map(fromFailed), ...released.map(fromReleased)]);
    },
  };
}

function toEntry(report: WorkReport, refusal: Failure | undefined, result: JsonValue | Failure | undefined): Entry {
  if (result instanceof Failure) return { report, refusal: refusal ?? result };
  return { report: result === undefined ? report : { ...report, result }, refusal };
}

/** Converts the result of a completed item, or returns why it is invalid; undefined if there is none. */
export function toResult({ result }: { readonly result?: Value | undefined }): JsonValue | Failure | undefined {
  if (result === undefined) return undefined;
  const value = toJson(ValueSchema, result);
  if (Buffer.byteLength(JSON.stringify(value)) > resultBytesMax)
    return invalid("result", "max_bytes", "must be at most 64 KiB as JSON");
  return value;
}

function refuseResult({ result }: LeasedRef): Failure | undefined {
  return result === undefined
    ? undefined
    : invalid("result", "completed", "must be absent: only a completed item has a result");
}

function collect(entries: readonly Entry[]): Reports {
  return {
    valid: entries.flatMap(({ report, refusal }) => (refusal === undefined ? [report] : [])),
    toResults(finished) {
      const next = finished.values();
      return entries.map(({ report, refusal }) => fromResult(report.id, refusal ?? next.next().value));
    },
  };
}

/** Creates a function that converts a leased item's reference to a report without its outcome. */
export function reportOf({ tenantId }: Context, { pool }: PoolSnapshot) {
  const { retry, dlq, itemEvents } = pool.config;
  const { maxRetries } = dlq;
  return ({ queueItemId, leaseToken }: Pick<LeasedRef, "queueItemId" | "leaseToken">) => ({
    tenantId,
    poolId: pool.id,
    id: queueItemId,
    token: leaseToken,
    phase: "work" as const,
    retry,
    maxRetries,
    itemEvents,
  });
}

/** Converts the reason of a failed attempt. */
export function failureOf({
  retryable = true,
  reasonCode,
  reason,
}: Pick<FailedItem, "retryable" | "reasonCode" | "reason">): WorkFailure {
  return { retryable, reasonCode: reasonCode === "" ? "failed" : reasonCode, reason };
}

/** Converts the result of a report that is its call's only one; throws if the lease was lost. */
export function onlyResult({ queueItemId }: { queueItemId: string }, result: ReportResult): WorkResult {
  if (result === undefined) throw leaseLost();
  return fromResult(queueItemId, result);
}

function fromResult(queueItemId: string, result: ReportResult | Failure): WorkResult {
  if (result === undefined) return fromResult(queueItemId, leaseLost());
  if (result instanceof Failure) {
    const { code, message, violations } = result;
    return create(WorkResultSchema, {
      queueItemId,
      errorCode: code,
      errorMessage: message,
      violations: [...violations],
    });
  }
  return {
    $typeName: "service.api.WorkResult",
    queueItemId,
    state: result.state,
    retryAt: result.retryAtMs === undefined ? undefined : timestampFromMs(result.retryAtMs),
    errorCode: "",
    errorMessage: "",
    violations: [],
  };
}

/** Creates the failure of a call whose lease is not held any more. */
export function leaseLost() {
  return fail("LEASE_LOST", {
    public: "The lease has expired or its token does not match. Lease items again to get current tokens.",
  });
}
