import { fromJson } from "@bufbuild/protobuf";
import { CancelQueueItemRequestSchema, QueueService } from "../../../../gen/service/api/queue_pb.ts";
import { RouteRequestSchema, RoutingService } from "../../../../gen/service/api/routing_pb.ts";
import type { CallOrigin, OperationCaller } from "../../../chain/operation-caller.ts";
import { Failure } from "../../../errors/index.ts";
import { mayBeCommitted } from "../../../platform/db/index.ts";
import type { ScheduleRun } from "./domain/schedule.ts";
import type { Postponement, RunResult, UnfinishedItem } from "./run-store.ts";

/** The result of an attempt, or a postponement if a later attempt may succeed. */
export type RunAttempt = RunResult | Postponement;

/** How to attempt a run. */
export interface AttemptOptions {
  /** Items of earlier runs that are cancelled first. */
  readonly replaced: readonly UnfinishedItem[];
  /** Whether nobody can have attempted the run before. */
  readonly isFirst: boolean;
  readonly nowMs: number;
  /** When to give up. */
  readonly untilMs: number;
}

/** Routes the items of runs. */
export type RunRouter = ReturnType<typeof createRunRouter>;

/** Idempotency records are kept for an hour at least. Nobody knows afterwards whether an attempt succeeded. */
const recordedMs = 30 * 60_000;

/** A postponement of a run whose item may have been routed. */
const undecided: Postponement = { state: "postponed", errorCode: "", errorMessage: "" };

/** The result of a run that is given up although its last attempt may have routed the item. */
const unknownOutcome = failed(
  "outcome_unknown",
  "It is unknown whether the item was routed, and the run is older than 30 minutes, so it was given up.",
  false,
);

/** Creates the function that routes the item of a run. All attempts of a run have the same effect as one. */
export function createRunRouter(call: OperationCaller) {
  async function attempt(run: ScheduleRun): Promise<RunResult> {
    const message = fromJson(RouteRequestSchema, run.request as never);
    const { decision } = await call(RoutingService.method.route, originOf(run, "route"), message);
    const { decisionId, outcome, reason, queueItemId, existingItemId } = decision!;
    const routed = { decisionId, outcome, itemId: queueItemId === "" ? existingItemId : queueItemId, permanent: false };
    if (outcome !== "rejected") return { ...routed, state: "routed", errorCode: "", errorMessage: "" };
    return { ...routed, state: "failed", errorCode: "rejected", errorMessage: `The item was rejected: ${reason}.` };
  }

  /** Cancels an item that a run replaces. An item that ended meanwhile stays as it is. */
  async function cancel(run: ScheduleRun, item: UnfinishedItem): Promise<void> {
    const reason = `The next run of the schedule ${run.scheduleId} starts.`;
    const message = { poolId: item.poolId, queueItemId: item.id, reason };
    try {
      const request = { $typeName: CancelQueueItemRequestSchema.typeName, ...message };
      await call(QueueService.method.cancelQueueItem, originOf(run, `cancel:${item.id}`), request);
    } catch (error) {
      if (!(error instanceof Failure) || error.entry.retryable) throw error;
    }
  }

  return {
    /** Cancels the items that a run replaces, then routes its own. Throws if the database cannot be reached. */
    async route(run: ScheduleRun, { replaced, isFirst, nowMs, untilMs }: AttemptOptions): Promise<RunAttempt> {
      if (run.request === null) return failed(run.errorCode, run.errorMessage, true);
      if (nowMs - run.createdAt.getTime() > recordedMs) {
        return run.errorCode === "" ? unknownOutcome : failed(run.errorCode, run.errorMessage, false);
      }
      try {
        for (const item of replaced) await cancel(run, item);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        const message = `An earlier item could not be cancelled: ${error.message}`;
        if (nowMs >= untilMs) return failed(error.code.toLowerCase(), message, false);
        // An earlier attempt without an error may have routed the item, which this attempt says nothing about.
        return isFirst || run.errorCode !== "" ? postponed(error.code, message) : undecided;
      }
      try {
        return await attempt(run);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        const { code, message, entry } = error;
        if (code === "QUOTA_EXCEEDED") return failed("quota_exceeded", message, false);
        if (!entry.retryable) return failed(code.toLowerCase(), message, true);
        if (nowMs >= untilMs) return failed(code.toLowerCase(), message, false);
        return code === "IDEMPOTENCY_IN_PROGRESS" || mayBeCommitted(error) ? undecided : postponed(code, message);
      }
    },
  };
}

function originOf({ tenantId, scheduleId, id }: ScheduleRun, step: string): CallOrigin {
  const key = `${scheduleId}:${id}:${step}`;
  return { tenantId, subject: `schedule:${scheduleId}`, idempotencyKey: key, requestId: key };
}

function postponed(code: string, errorMessage: string): Postponement {
  return { state: "postponed", errorCode: code.toLowerCase(), errorMessage };
}

function failed(errorCode: string, errorMessage: string, permanent: boolean): RunResult {
  return { state: "failed", itemId: "", decisionId: "", outcome: "", errorCode, errorMessage, permanent };
}
