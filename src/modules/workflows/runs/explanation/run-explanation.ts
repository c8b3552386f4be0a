import type { Context } from "../../../../chain/call.ts";
import type { ShownTask, Tasks } from "../../tasks/index.ts";
import { type Plan, type PlanWork, unitOf } from "../domain/engine/plan.ts";
import type { Activity, RunError, RunState } from "../domain/engine/state.ts";
import type { Run } from "../domain/run.ts";
import type { PlanCache } from "../plan-cache.ts";

/** Why a run is where it is. */
export interface RunExplanation {
  readonly status: string;
  readonly summary: string;
  readonly reasons: readonly RunReason[];
}

/** Why a step waits or has failed, and what would move it. */
export interface RunReason {
  readonly step: string;
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
  readonly since: Date | undefined;
  readonly until: Date | undefined;
}

export type ExplainRun = (context: Context, run: Run) => Promise<RunExplanation>;

/** How many tasks of a run are explained. */
const tasksMax = 200;

export function createRunExplanation(plans: PlanCache, tasksOfRun: Tasks["tasksOfRun"]): ExplainRun {
  return async ({ sql, tenantId }, run) => {
    const state = JSON.parse(run.stateJson) as RunState;
    const tasks = run.endedAt === null ? await tasksOfRun(sql, tenantId, run.id, tasksMax) : [];
    const plan = await plans.get(tenantId, run.definitionId, run.version);
    const reasons = reasonsOf(run, state, plan, new Map(tasks.map((task) => [task.id, task])));
    const place = `version ${run.version} of ${plan.key}`;
    return { status: run.status, summary: summaryOf(run, state, reasons, place), reasons };
  };
}

function reasonsOf(run: Run, state: RunState, plan: Plan, tasks: ReadonlyMap<string, ShownTask>): RunReason[] {
  if (run.endedAt !== null) return failuresOf(run).map((failure) => ({ ...failure, since: run.endedAt! }));
  if (run.status === "paused") {
    const remedy = `Resume the run: POST /api/workflow-runs/${run.id}/resume.`;
    return [reason("", "paused", "The run is paused.", remedy)];
  }
  if (run.status === "pending") {
    const scheduled = reason("", "scheduled", "The run starts later.", "Wait for its start.");
    return [{ ...scheduled, since: run.createdAt, until: run.wakeAt ?? undefined }];
  }
  const reasons = Object.entries(state.active).flatMap(([step, activity]): RunReason[] => {
    const found = reasonOf(run, step, activity, plan, tasks);
    if (found === undefined) return [];
    const dueMs = Math.min(activity.dueMs ?? Number.POSITIVE_INFINITY, activity.totalMs ?? Number.POSITIVE_INFINITY);
    return [
      { ...found, since: new Date(activity.sinceMs), until: Number.isFinite(dueMs) ? new Date(dueMs) : undefined },
    ];
  });
  if (state.todo !== undefined) {
    reasons.push(reason("", "advancing", "The next steps are about to start.", "Nothing to do."));
  }
  return reasons;
}

function reason(step: string, code: string, message: string, remedy: string): RunReason {
  return { step, code, message, remedy, since: undefined, until: undefined };
}

/** Returns the failures of a run: its step, and the compensations that failed after it. */
function failuresOf({ id, status, error }: Run): RunReason[] {
  if (error === null) return [];
  const replay = `Correct the cause, then replay the run: POST /api/workflow-runs/${id}/replay.`;
  const retry = `Correct the cause, then retry it: POST /api/workflow-runs/${id}/compensate. Or undo the step by hand.`;
  const own = reason(error.step, status, `${error.code}, ${error.message}`, replay);
  const details = error.details as { readonly failed_compensations?: readonly RunError[] } | null;
  return [
    ...(status === "cancelled" ? [] : [own]),
    ...(details?.failed_compensations ?? []).map(({ step, code, message }) =>
      reason(step, undoFailed, `Its compensation failed: ${code}, ${message}`, retry),
    ),
  ];
}

const undoFailed = "compensation_failed";

/** The reason of one step; undefined for a block, which waits for the steps inside it. */
function reasonOf(
  run: Run,
  step: string,
  activity: Activity,
  plan: Plan,
  tasks: ReadonlyMap<string, ShownTask>,
): RunReason | undefined {
  switch (activity.s) {
    case "task":
      return taskReason(step, tasks.get(activity.taskId));
    case "event": {
      const events = activity.any.map(({ event, scope }) =>
        scope === "" ? `"${event}"` : `"${event}" with the scope "${scope}"`,
      );
      const message = `It waits for the event ${events.join(" or ")}.`;
      const [verb, path] = activity.any.some(({ update }) => update)
        ? ["Update the run", "update"]
        : ["Send the event", "signal"];
      return reason(step, "waiting_for_event", message, `${verb}: POST /api/workflow-runs/${run.id}/${path}.`);
    }
    case "timer":
      return reason(step, "waiting_for_time", "It waits for its time.", "It continues by itself.");
    case "approval": {
      const { by, quorum } = unitOf(plan, step).work as PlanWork & { readonly kind: "approval" };
      const message = `It waits for ${quorum} of ${by.join(", ")} to approve; ${activity.decisions.length} so far.`;
      const remedy = `Decide as ${by.join(" or ")}: POST /api/workflow-runs/${run.id}/approvals/${step}/decide.`;
      return reason(step, "waiting_for_approval", message, remedy);
    }
    case "effect":
      return effectReason(step, activity);
    default:
      return undefined;
  }
}

function effectReason(step: string, activity: Activity & { readonly s: "effect" }): RunReason {
  if (activity.phase === "backoff") {
    const message = `Attempt ${activity.attempt} failed; the next one follows.`;
    return reason(step, "waiting_for_retry", message, "It is tried again by itself.");
  }
  if (activity.childId !== undefined) {
    const message = `It waits for the run ${activity.childId}.`;
    const remedy = `See why that run does not end: GET /api/workflow-runs/${activity.childId}/explain.`;
    return reason(step, "waiting_for_run", message, remedy);
  }
  const remedy = "It continues by itself, also after a failure of a node.";
  return reason(step, "in_progress", "Its effect is being performed.", remedy);
}

function taskReason(step: string, task: ShownTask | undefined): RunReason {
  if (task === undefined) return reason(step, "in_progress", "Its task has just ended.", "It continues by itself.");
  const { queue, type, versionRange, workerId, attempt } = task;
  const work = versionRange === "" ? type : `${type} ${versionRange}`;
  switch (task.reason) {
    case undefined: {
      const message = `The worker ${workerId} runs attempt ${attempt} of ${work}.`;
      return reason(step, "worker_busy", message, "It continues when the worker reports, or when its time-out passes.");
    }
    case "retry_delay": {
      const message = `Attempt ${attempt - 1} failed; the next one follows.`;
      return reason(step, "waiting_for_retry", message, "It is tried again by itself.");
    }
    case "no_worker": {
      const message = `No worker polls the queue "${queue}".`;
      return reason(step, "no_worker", message, `Start a worker for the queue "${queue}" that can run ${work}.`);
    }
    case "no_capable_worker": {
      const message = `The workers of the queue "${queue}" cannot run ${work}.`;
      return reason(step, "no_capable_worker", message, `Start a worker that lists ${work} among its capabilities.`);
    }
    case "workers_busy": {
      const message = `It waits in the queue "${queue}" for a worker.`;
      const remedy = "It continues when a worker has a free slot; start more workers to speed it up.";
      return reason(step, "workers_busy", message, remedy);
    }
  }
}

function summaryOf(run: Run, state: RunState, reasons: readonly RunReason[], place: string): string {
  const what = `The run of ${place}`;
  if (run.endedAt !== null) {
    const place = run.error === null || run.error.step === "" ? "" : ` at the step ${run.error.step}`;
    const cause = run.error === null ? "." : `: ${run.error.code}, ${run.error.message}`;
    const steps = reasons.flatMap(({ step, code }) => (code === undoFailed ? [step] : []));
    const undone = steps.length === 0 ? "" : ` The compensation of ${steps.join(", ")} failed.`;
    return `${what} has ended as ${run.status}${place}${cause}${undone}`;
  }
  const doing =
    state.ending === undefined ? "" : ` It compensates because it is about to end as ${state.ending.status}.`;
  const [first] = reasons;
  if (first === undefined) return `${what} is ${run.status}.${doing}`;
  const others = reasons.length > 1 ? ` ${reasons.length - 1} more steps are in progress.` : "";
  return `${what} is ${run.status}. ${first.step === "" ? "" : `Step ${first.step}: `}${first.message}${others}${doing}`;
}
