import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
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
import { Failure, fail } from "../../../../errors/index.ts";
import { createMessageChecker } from "../../../../platform/validation/index.ts";
import type { PoolSnapshot } from "../../pools/index.ts";
import type { ReportResult, WorkFailure, WorkReport } from "../completion/completion-service.ts";

/** The reports of a call. An invalid report does not affect the others. */
export interface Reports {
  readonly valid: readonly WorkReport[];
  /** Returns one result per report, in order, from the results of the valid ones. */
  toResults(finished: readonly ReportResult[]): WorkResult[];
}

/** Converts the reports of WorkService's calls. */
export interface ReportReader {
  /** Reads the items of CompleteItems or FailItems; `failure` is undefined for completed items. */
  readBatch(
    context: Context,
    snapshot: PoolSnapshot,
    items: readonly LeasedRef[],
    failure: WorkFailure | undefined,
  ): Reports;
  /** Reads the reports of LeaseItems: the completed items, then the failed ones. */
  readReports(
    context: Context,
    snapshot: PoolSnapshot,
    request: Pick<LeaseItemsRequest, "completed" | "failed">,
  ): Reports;
}

interface Entry {
  readonly report: WorkReport;
  readonly refusal: Failure | undefined;
}

const noReports: Reports = { valid: [], toResults: () => [] };

/** Creates the reader of reports. */
export function createReportReader(): ReportReader {
  const checkRef = createMessageChecker(LeasedRefSchema);
  const checkCompleted = createMessageChecker(CompletedItemSchema);
  const checkFailed = createMessageChecker(FailedItemSchema);
  return {
    readBatch(context, snapshot, items, failure) {
      const toReport = reportOf(context, snapshot);
      return collect(items.map((item) => ({ report: { ...toReport(item), failure }, refusal: checkRef(item) })));
    },
    readReports(context, snapshot, { completed, failed }) {
      if (completed.length + failed.length === 0) return noReports;
      const toReport = reportOf(context, snapshot);
      const fromCompleted = (item: CompletedItem): Entry => ({
        report: { ...toReport(item), failure: undefined, cost: item.cost, score: item.score },
        refusal: checkCompleted(item),
      });
      const fromFailed = (item: FailedItem): Entry => ({
        report: { ...toReport(item), failure: failureOf(item) },
        refusal: checkFailed(item),
      });
      return collect([...completed.map(fromCompleted), ...failed.map(fromFailed)]);
    },
  };
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
