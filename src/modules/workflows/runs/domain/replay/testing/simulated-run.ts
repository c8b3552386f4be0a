import type { Definition, Json } from "../../../../definitions/index.ts";
import { Advance } from "../../engine/advance.ts";
import type { HistoryEntry } from "../../engine/history-entry.ts";
import { createPlan, type Plan } from "../../engine/plan.ts";
import { createRunState, type RunEvent, type RunState, wakeTime } from "../../engine/state.ts";
import { parseStepKey, type StepKey } from "../../engine/step-key.ts";
import type { ReplaySource } from "../replay-plan.ts";

/** The simulated outcome of a task or effect: an output, a failure, or nothing until the run ends. */
export type Outcome = { readonly output: Json } | { readonly code: string } | "pending";

/** A run that was executed without a database. */
export interface SimulatedRun extends ReplaySource {
  readonly output: Json;
  /** The tasks and effects that it started, compensations included, in order. */
  readonly started: readonly StepKey[];
  /** The requests of tasks and effects. */
  readonly requests: Readonly<Record<StepKey, Json>>;
  /** The most elements of a map that were in progress at a time. */
  readonly openMax: number;
}

interface Choice {
  /** Default: the key as output. */
  readonly outcome?: (key: StepKey) => Outcome;
  readonly input?: Json;
  readonly state?: RunState;
  /** Events to send, each when nothing else happens. */
  readonly events?: readonly RunEvent[];
  readonly runId?: string;
}

const retry = { maxAttempts: 3, initialMs: 1000, factor: 2, maxMs: 60_000, on: undefined };

/** Compiles a definition. */
export function planOf(definition: Definition, version = 1): Plan {
  return createPlan(definition, "definition", version, retry);
}

/** Executes a run to its end. Time jumps to whatever is due next. */
export function simulateRun(plan: Plan, choice: Choice = {}): SimulatedRun {
  const { outcome = (key) => ({ output: key }), events = [], runId = "run" } = choice;
  let state = structuredClone(choice.state ?? createRunState(choice.input ?? null));
  const { input } = state;
  const history: HistoryEntry[] = [];
  const started: StepKey[] = [];
  const requests: Record<StepKey, Json> = {};
  let nowMs = 1_000_000;
  let nextId = 0;
  let openMax = 0;
  const queue: RunEvent[] = [{ kind: "start" }];
  const toSend = [...events];
  for (let round = 0; round < 10_000; round++) {
    let event = queue.shift();
    if (event === undefined && toSend.length > 0) event = toSend.shift();
    if (event === undefined) {
      const wakeMs = wakeTime(state, nowMs);
      if (wakeMs === undefined) throw new Error("Nothing can move the run any more.");
      nowMs = Math.max(nowMs, wakeMs);
      event = { kind: "tick" };
    }
    const run = {
      id: runId,
      key: "k",
      definition: "d",
      version: plan.version,
      environment: "e",
      started_at: new Date(0),
    };
    const advance = new Advance(plan, state, { nowMs, run, mail: [], newId: () => `id${++nextId}` });
    advance.apply(event);
    history.push(...advance.history);
    // As stored: nothing may depend on what JSON cannot hold.
    state = JSON.parse(JSON.stringify(advance.state));
    for (const activity of Object.values(state.active)) {
      if (activity.s === "map") openMax = Math.max(openMax, activity.open);
    }
    const begun = [
      ...advance.newTasks.map(({ key, input: request }) => ({ key, attempt: 1, request, of: "attempt" as const })),
      ...advance.effects.map(({ key, attempt, request }) => ({ key, attempt, request, of: "effect" as const })),
      ...advance.retriedTasks.map(({ taskId, attempt }) => ({
        ...{ key: keyOfTask(state, taskId), attempt, request: undefined, of: "attempt" as const },
      })),
    ];
    for (const { key, attempt, request, of } of begun) {
      if (attempt === 1) started.push(key);
      if (request !== undefined) requests[key] = request;
      const result = outcome(key);
      if (result === "pending") continue;
      const failure = { message: "no", details: null, retryable: false };
      queue.push(
        "output" in result
          ? { kind: `${of}_succeeded`, key, attempt, output: result.output }
          : { kind: `${of}_failed`, key, attempt, code: result.code, ...failure },
      );
    }
    if (advance.ended !== undefined) {
      const { status, error = null, output } = advance.ended;
      return {
        ...{ runId, plan, status, error, input, output, started, requests, openMax },
        history: JSON.parse(JSON.stringify(history)),
      };
    }
  }
  throw new Error("The run does not end.");
}

function keyOfTask(state: RunState, taskId: string): StepKey {
  return Object.entries(state.active).find(([, activity]) => activity.s === "task" && activity.taskId === taskId)![0];
}

/** The steps that a history says were completed, without compensations. */
export function completedIn(history: readonly HistoryEntry[]): StepKey[] {
  return history.flatMap((entry) =>
    entry.kind === "step_completed" && !parseStepKey(entry.step).id.startsWith("~") ? [entry.step] : [],
  );
}
