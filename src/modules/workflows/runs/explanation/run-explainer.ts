import { requireEnvironmentAccess } from "../../../../platform/access/index.ts";
import { type ExplainedStep, type ExplainedWait, type Explainer, linkTo } from "../../../explainer.ts";
import type { HistoryEntry } from "../domain/engine/history-entry.ts";
import type { RunState } from "../domain/engine/state.ts";
import type { Run } from "../domain/run.ts";
import { runStore } from "../storage/run-store.ts";
import type { ExplainRun, RunReason } from "./run-explanation.ts";

/** How many of the latest advances are shown. */
const advancesMax = 50;

/** Explains workflow runs: their latest history and what they wait for. */
export function createRunExplainer(explainRun: ExplainRun): Explainer {
  return {
    kind: "workflow_run",
    scope: "workflow_run:read",
    async explain(context, { id }) {
      const { sql, tenantId } = context;
      const run = await runStore(sql).find(tenantId, id);
      if (run === undefined) return undefined;
      requireEnvironmentAccess(context, run.origin.environment);
      const page = { fetch: advancesMax, offset: 0, after: String(Math.max(0, run.revision - advancesMax)) };
      const [{ status, summary, reasons }, history] = await Promise.all([
        explainRun(context, run),
        runStore(sql).history(tenantId, run, page),
      ]);
      return {
        ...{ status, summary },
        steps: history.rows.flatMap(({ at, entries }) =>
          (entries as readonly HistoryEntry[]).map((entry) => ({ at, ...stepOf(entry) })),
        ),
        waits: run.endedAt === null ? reasons.map(toWait) : [],
        remedies: run.endedAt === null ? [] : reasons.map(({ remedy }) => remedy),
        links: linksOf(run),
      };
    },
  };
}

function toWait({ step, message, ...reason }: RunReason): ExplainedWait {
  return { ...reason, message: step === "" ? message : `Step ${step}: ${message}` };
}

/** An entry of the history in words. Outputs and payloads are not repeated. */
function stepOf(entry: HistoryEntry): ExplainedStep {
  const subject = "step" in entry ? { subject: entry.step } : {};
  return { code: entry.kind, ...subject, message: messageOf(entry) };
}

function messageOf(entry: HistoryEntry): string {
  switch (entry.kind) {
    case "step_failed":
      return `The step failed: ${entry.error.code}, ${entry.error.message}`;
    case "attempt_failed":
      return `Attempt ${entry.attempt} failed: ${entry.error.code}, ${entry.error.message} The next one follows after ${entry.delay_ms} ms.`;
    case "branch_taken":
      return `The branch ${entry.arm} was taken.`;
    case "map_started":
      return `It started for ${entry.items.length} items.`;
    case "wait_started":
      return `It waits for the event ${entry.any.map(({ event }) => event).join(" or ")}.`;
    case "timer_started":
      return `It waits until ${entry.until}.`;
    case "event_received":
      return `The event ${entry.event} was received.`;
    case "approval_decided":
      return `${entry.by} ${entry.approved ? "approved" : "rejected"} it.`;
    case "run_paused":
    case "run_cancelled":
      return `${entry.by} ${entry.kind === "run_paused" ? "paused" : "cancelled"} the run${reasonText(entry.reason)}`;
    case "run_resumed":
      return `${entry.by} resumed the run.`;
    case "compensations_retried":
      return `${entry.by} retried the compensations of ${entry.steps.join(", ")}${reasonText(entry.reason)}`;
    case "run_ended":
      return `The run ended as ${entry.status}${entry.error === undefined ? "." : `: ${entry.error.code}, ${entry.error.message}`}`;
    default:
      return plainMessages[entry.kind];
  }
}

function reasonText(reason: string): string {
  return reason === "" ? "." : `: ${reason}`;
}

const plainMessages = {
  run_started: "The run started.",
  run_replayed: "The run continues an earlier run.",
  step_started: "The step started.",
  step_completed: "The step completed.",
  step_cancelled: "The step was cancelled.",
  wait_timed_out: "The wait timed out.",
  approval_requested: "An approval was requested.",
} as const;

function linksOf(run: Run) {
  const { id, definitionId, parentRunId, status } = run;
  const isDead = status === "failed" || status === "timed_out";
  return [
    ...linkTo("run", id, `/api/workflow-runs/${id}`),
    ...linkTo("history", id, `/api/workflow-runs/${id}/history`),
    ...linkTo("definition", definitionId, `/api/workflow-definitions/${definitionId}`),
    ...linkTo("parent_run", parentRunId, `/api/workflow-runs/${parentRunId}`, true),
    ...childRunsOf(run).flatMap((childId) => linkTo("child_run", childId, `/api/workflow-runs/${childId}`, true)),
    ...(isDead ? linkTo("dead_letter", id, `/api/workflow-dlq/${id}`) : []),
  ];
}

/** The runs that steps in progress wait for. */
function childRunsOf({ stateJson, endedAt }: Run): readonly string[] {
  if (endedAt !== null) return [];
  const { active } = JSON.parse(stateJson) as RunState;
  return Object.values(active).flatMap((activity) =>
    activity.s === "effect" && activity.childId !== undefined ? [activity.childId] : [],
  );
}
