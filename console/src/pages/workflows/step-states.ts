import { createWorkflowRunService, type WorkflowRun } from "@client/gen/workflow-run";
import { useQuery } from "../../core/query";
import { transport } from "../../core/transport";
import type { Tone } from "../../ui/text";

const runs = createWorkflowRunService(transport);
/** Longer runs are lit by their first and current steps; the history tab has all entries. */
const advancesMax = 1000;

/** An entry of the history of a run. */
export interface HistoryEntry {
  readonly kind: string;
  readonly step?: string;
  readonly [detail: string]: unknown;
}

export interface StepState {
  readonly tone: Tone;
  readonly startedAt: string | undefined;
  readonly endedAt: string | undefined;
  readonly attempts: number;
}

const toneOfEnd: Readonly<Record<string, Tone>> = {
  step_completed: "ok",
  step_failed: "bad",
  step_cancelled: "muted",
};

/** The states of the steps of a run, by id. */
export function useStepStates(run: WorkflowRun): ReadonlyMap<string, StepState> {
  const history = useQuery(`states ${run.id} ${run.revision}`, () =>
    runs.getHistory({ run_id: run.id, limit: advancesMax }).page(),
  );
  const states = new Map<string, StepState>();
  for (const { at, entries } of history.data?.items ?? []) {
    for (const entry of entries as unknown as readonly HistoryEntry[]) {
      if (entry.step === undefined) continue;
      const id = stepId(entry.step);
      states.set(id, next(states.get(id), entry, at));
    }
  }
  for (const { step, activity } of run.active_steps) {
    const before = states.get(stepId(step));
    const isWaiting = /wait|approval|event|timer|time/.test(activity);
    states.set(stepId(step), {
      ...(before ?? { startedAt: undefined, attempts: 0 }),
      endedAt: undefined,
      tone: isWaiting ? "warn" : "info",
    });
  }
  return states;
}

function next(before: StepState | undefined, { kind }: HistoryEntry, at: string | undefined): StepState {
  const state = before ?? { tone: "info" as const, startedAt: at, endedAt: undefined, attempts: 0 };
  const end = toneOfEnd[kind];
  return {
    ...state,
    attempts: state.attempts + (kind === "attempt_failed" ? 1 : 0),
    ...(end !== undefined && { tone: end, endedAt: at }),
  };
}

/** The id of a step in the definition. Steps in maps have a position in their key. */
function stepId(key: string): string {
  return key
    .split(/[./]/)
    .at(-1)!
    .replace(/\[\d+\]/g, "");
}
