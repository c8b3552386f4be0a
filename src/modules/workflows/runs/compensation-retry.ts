import type { Message } from "@bufbuild/protobuf";
import type { Context } from "../../../chain/call.ts";
import { fail, invalid } from "../../../errors/index.ts";
import { mayBeCommitted } from "../../../platform/db/index.ts";
import { type KeyedCall, recordResponse, unlessRepeated } from "../../../platform/idempotency/index.ts";
import type { Shards } from "../../../platform/shards/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { TaskDispatch } from "../tasks/index.ts";
import { failedCompensations, type RunState } from "./domain/engine/state.ts";
import type { Run } from "./domain/run.ts";
import type { PlanCache } from "./plan-cache.ts";
import { runKeyTaken } from "./replay/replay-service.ts";
import { type CommittedAdvance, createAdvance, settleReservations, toRun } from "./run-engine.ts";
import type { RunService } from "./run-service.ts";
import { toRunWrite } from "./run-write-builder.ts";
import { type LiveRun, loadRuns } from "./storage/run-loader.ts";
import { runStore } from "./storage/run-store.ts";
import type { RunWrite } from "./storage/run-write.ts";
import { updateRuns } from "./storage/run-writer.ts";

/** A request to perform failed compensations of an ended run again. */
export interface CompensationRetry {
  /** The steps to undo. Empty: all whose compensation has failed. */
  readonly steps: readonly string[];
  readonly reason: string;
}

interface Dependencies extends Pick<PlatformServices, "db" | "clock"> {
  readonly plans: PlanCache;
  readonly dispatch: TaskDispatch;
  readonly currentShards: Shards["currentSql"];
  readonly getRun: RunService["getRun"];
  readonly onCommitted: (committed: readonly CommittedAdvance[]) => void;
}

export type RetryCompensations = ReturnType<typeof createCompensationRetry>;

/** Creates the function that retries failed compensations. The run is in progress again until they are done. */
export function createCompensationRetry(dependencies: Dependencies) {
  const { db, clock, plans, dispatch, currentShards, getRun, onCommitted } = dependencies;

  return <T extends Message>(
    context: Context,
    runId: string,
    { steps, reason }: CompensationRetry,
    keyed: KeyedCall | undefined,
    toResponse: (run: Run) => T,
  ): Promise<T | "duplicate"> =>
    unlessRepeated(db.sql, keyed, async () => {
      const { tenantId, principal } = context;
      const ended = await getRun(context, runId);
      if (ended.endedAt === null) {
        throw fail("FAILED_PRECONDITION", { public: `The run is ${ended.status}: wait for its end.` });
      }
      chooseSteps(JSON.parse(ended.stateJson), steps);
      const plan = await plans.get(tenantId, ended.definitionId, ended.version);
      const nowMs = clock.now();
      let retried: { readonly run: LiveRun; readonly advance: CommittedAdvance["advance"]; readonly write: RunWrite };
      let response: T | undefined;
      const settle = (committed: boolean | undefined) =>
        retried && settleReservations(dispatch, retried.run, retried.write, committed);
      try {
        await db.transaction(async (tx) => {
          // The rows of ended runs change rarely, so the loser of two retries is simply refused.
          if (!(await runStore(tx).reopen(tenantId, runId))) throw changedMeanwhile(ended);
          const [run] = await loadRuns(tx, [{ tenantId, id: runId }]);
          const advance = createAdvance(run!, plan, nowMs);
          const chosen = chooseSteps(advance.state, steps);
          advance.apply({ kind: "retry_compensations", by: principal.subject, reason, steps: chosen });
          const write = toRunWrite(run!, advance, { nowMs, reserve: dispatch.reserve, newMail: [], unread: 0 });
          retried = { run: run!, advance, write };
          response = toResponse(toRun(run!, advance, write.stateJson, nowMs));
          await updateRuns(tx, [write], currentShards);
          await recordResponse(tx, keyed, response);
        });
      } catch (error) {
        settle(mayBeCommitted(error) ? undefined : false);
        throw error;
      }
      settle(true);
      onCommitted([{ run: retried!.run, plan, advance: retried!.advance }]);
      return response!;
    });
}

function chooseSteps(state: RunState, wanted: readonly string[]): readonly string[] {
  const failed = failedCompensations(state);
  if (failed.length === 0) {
    throw fail("FAILED_PRECONDITION", { public: "No compensation of the run has failed." });
  }
  const unknown = wanted.find((step) => !failed.includes(step));
  if (unknown !== undefined) {
    throw invalid("steps", "in", `must be steps whose compensation has failed: ${failed.slice(0, 10).join(", ")}`);
  }
  return wanted.length === 0 ? failed : wanted;
}

function changedMeanwhile(run: Run) {
  if (run.runKey !== "") return runKeyTaken(run);
  return fail("CONFLICT", { public: "Somebody else has just retried a compensation of the run." });
}
