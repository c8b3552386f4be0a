import type { PlatformServices } from "../../../area.ts";
import type { Json, JsonObject } from "../../definitions/index.ts";
import type { Effect } from "../domain/engine/advance-result.ts";
import { isCompensation } from "../domain/engine/execution.ts";
import type { Failure } from "../domain/engine/state.ts";
import { depthMax, type EndStatus, type Run } from "../domain/run.ts";
import { noReceipt, type TakeQuota } from "../service-started-runs.ts";
import type { StartRun } from "../start/run-start.ts";
import type { LiveRun } from "../storage/run-loader.ts";
import { runStore } from "../storage/run-store.ts";
import { childStartRecord } from "./child-cancellation.ts";
import { EffectFailure } from "./effect-failure.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "clock"> {
  readonly start: StartRun;
  readonly takeQuota: TakeQuota;
}

/** The result of a run that another run waits for. */
export type ChildResult = { readonly output: Json } | { readonly failure: Failure };

/**
 * Starts the run that a step waits for, unless it was started before or a run above it has ended. Returns its result if it
 * has ended.
 */
export async function startChild(
  { db, clock, start, takeQuota }: Dependencies,
  parent: LiveRun,
  { key, attempt, childId, request }: Effect,
): Promise<ChildResult | undefined> {
  const { tenantId, environmentId } = parent;
  const known = await runStore(db.sql).find(tenantId, childId!);
  if (known !== undefined) return resultOf(known);
  // The run is about to be cancelled itself. Without this, a tree of runs could grow faster than its cancellation spreads.
  // A run that compensates goes on: the runs above it may have ended.
  if (
    !isCompensation(key) &&
    parent.parentRunId !== "" &&
    !(await runStore(db.sql).hasLiveAncestors(tenantId, parent.parentRunId))
  ) {
    return undefined;
  }
  const { key: definitionKey, version, input = null } = request as JsonObject & { key: string; version?: number };
  const depth = (parent.origin.parent?.depth ?? 0) + 1;
  if (depth > depthMax) throw failed(`Runs may be nested ${depthMax} levels deep.`, childId!);
  const { environment, by, trigger } = parent.origin;
  const outcome = await start({
    ...{ tenantId, id: childId!, environment: { id: environmentId, key: environment }, parentRunId: parent.id },
    ...{ definition: definitionKey, version, input, runKey: "" },
    origin: { by, via: "subworkflow", parent: { stepKey: key, attempt, depth }, ...(trigger && { trigger }) },
    takeQuota: async () => (await takeQuota(tenantId, "workflow.run", 1)) ?? noReceipt,
    // A run that has ended is found no more among the others, so the record keeps a repeat from starting it again.
    record: () => childStartRecord(tenantId, childId!, clock.now()),
  });
  if (outcome.kind === "refused") {
    const { reason, message } = outcome;
    throw failed(reason === "input" ? message : `There is no published workflow "${definitionKey}".`, childId!);
  }
  // The end of a run is reported to the run that waits for it when it is stored.
  return undefined;
}

/** The result of an ended run for the run that waits for it; undefined while it runs. */
export function resultOf({
  id,
  status,
  output,
  error,
}: Pick<Run, "id" | "status" | "output" | "error">): ChildResult | undefined {
  if (status === "succeeded") return { output };
  if (status !== "failed" && status !== "cancelled" && status !== "timed_out") return undefined;
  return { failure: childFailure(id, status, error) };
}

function childFailure(runId: string, status: EndStatus, error: Run["error"]): Failure {
  const message = `The run ${runId} ended as ${status}${error === null ? "" : `: ${error.message}`}`;
  const details = { run_id: runId, status, error: error as unknown as Json };
  return { code: "subworkflow_failed", message, details, retryable: true };
}

function failed(message: string, runId: string): EffectFailure {
  return new EffectFailure("subworkflow_failed", message, false, { run_id: runId, status: "failed", error: null });
}
