import { fail } from "../../../../errors/index.ts";

export type ExperimentStatus = "draft" | "running" | "paused" | "completed" | "stopped";

/** The calls that depend on the status. */
export type ExperimentCall =
  | "update"
  | "delete"
  | "start"
  | "pause"
  | "complete"
  | "stop"
  | "assign"
  | "score"
  | "results";

/** The next status by status and call. A call that is not listed is refused. */
const transitions: Readonly<
  Record<ExperimentStatus, Readonly<Partial<Record<ExperimentCall, ExperimentStatus | "deleted">>>>
> = {
  draft: { update: "draft", delete: "deleted", start: "running" },
  running: {
    update: "running",
    pause: "paused",
    complete: "completed",
    stop: "stopped",
    assign: "running",
    score: "running",
    results: "running",
  },
  paused: {
    update: "paused",
    start: "running",
    complete: "completed",
    stop: "stopped",
    assign: "paused",
    score: "paused",
    results: "paused",
  },
  completed: { assign: "completed", score: "completed", results: "completed" },
  stopped: { assign: "stopped", score: "stopped", results: "stopped" },
};

const descriptions: Readonly<Record<ExperimentStatus, string>> = {
  draft: "a draft",
  running: "running",
  paused: "paused",
  completed: "completed",
  stopped: "stopped",
};

export function possibleCalls(status: ExperimentStatus): readonly ExperimentCall[] {
  return Object.keys(transitions[status]) as ExperimentCall[];
}

/** The status after a call. Throws FAILED_PRECONDITION, with what is possible, if the status does not allow it. */
export function nextStatus(status: ExperimentStatus, call: ExperimentCall): ExperimentStatus | "deleted" {
  const next = transitions[status][call];
  if (next !== undefined) return next;
  const possible = possibleCalls(status);
  throw fail("FAILED_PRECONDITION", {
    public: `The experiment is ${descriptions[status]}, which does not allow ${call}. Possible: ${possible.join(", ")}.`,
    extra: { current_status: status, possible_calls: possible },
  });
}
