import type { Json } from "../../../definitions/index.ts";
import type { HistoryEntry, HistoryError } from "../engine/history-entry.ts";
import type { ListOwner, Plan } from "../engine/plan.ts";
import type { Activity, Pending, ReplayStart, RunError, Undo } from "../engine/state.ts";
import { type Positions, parseStepKey, type StepKey, stepKey } from "../engine/step-key.ts";

/** The result of a branch of a parallel or of an element of a map. */
export type ListResult =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly error: { readonly code: string; readonly message: string } };

/** Facts about the steps of a run, from its history. */
export interface RunFacts {
  /** The outputs of completed steps, in the order of completion. */
  readonly completed: Map<StepKey, Json>;
  /** The compensations that are registered, in the order of registration. */
  readonly undo: Undo[];
  /** The steps whose compensations have completed. */
  readonly undone: Set<StepKey>;
  /** The errors that nothing caught, by the step that failed. */
  readonly failed: Map<StepKey, RunError>;
  /** The errors of steps whose catch has started. */
  readonly caught: Map<StepKey, RunError>;
  /** The arms that branches have taken. */
  readonly arms: Map<StepKey, string>;
  /** The waits whose `on_timeout` has started. */
  readonly timedOut: Set<StepKey>;
  /** The elements of maps. */
  readonly items: Map<StepKey, readonly Json[]>;
  /** The number of elements that a map has started. */
  readonly started: Map<StepKey, number>;
  /** Results that a replay has kept of branches and elements, by the name of their list. */
  readonly settled: Map<string, ListResult>;
  /** Blocks, branches and elements that a replay has kept as a whole: this history does not say what happened inside. */
  readonly sealed: Set<string>;
  /** The steps that have started, in this order. */
  readonly touched: Set<StepKey>;
  /** The blocks that contain a step that has started. */
  readonly entered: Set<StepKey>;
}

/** The name of a branch of a parallel or of an element of a map. */
export function listName(owner: ListOwner & { readonly kind: "parallel" | "map" }, at: Positions): string {
  const { id, depth } = owner.step;
  return owner.kind === "map" ? stepKey(id, at) : `${stepKey(id, at.slice(0, depth))}.${owner.name}`;
}

/** Reads the history of a run that executed a plan. */
export function readRunFacts(plan: Plan, history: readonly HistoryEntry[]): RunFacts {
  const facts: RunFacts = {
    ...{ completed: new Map(), undo: [], undone: new Set(), failed: new Map(), caught: new Map(), arms: new Map() },
    ...{ timedOut: new Set(), items: new Map(), started: new Map(), settled: new Map(), sealed: new Set() },
    ...{ touched: new Set(), entered: new Set() },
  };
  for (const entry of history) {
    if (entry.kind === "run_replayed") readKept(plan, facts, entry.kept);
    else readEntry(plan, facts, entry);
  }
  return facts;
}

function readEntry(plan: Plan, facts: RunFacts, entry: HistoryEntry): void {
  if (!("step" in entry)) return;
  const { step: key } = entry;
  if (key.startsWith("~")) {
    if (entry.kind === "step_completed") markUndone(facts, key);
    return;
  }
  if (entry.kind !== "step_cancelled") touch(plan, facts, key);
  switch (entry.kind) {
    case "step_completed":
      facts.completed.set(key, entry.output);
      if (entry.undo !== undefined) facts.undo.push({ key: `~${key}`, request: entry.undo });
      return;
    case "step_failed":
      readFailure(plan, facts, key, entry.error);
      return;
    case "branch_taken":
      facts.arms.set(key, entry.arm);
      return;
    case "map_started":
      facts.items.set(key, entry.items);
      return;
    case "wait_timed_out":
      facts.timedOut.add(key);
      return;
    default:
      return;
  }
}

function markUndone(facts: RunFacts, undoKey: StepKey): void {
  facts.undone.add(undoKey.slice(1));
  const at = facts.undo.findLastIndex(({ key }) => key === undoKey);
  if (at >= 0) facts.undo.splice(at, 1);
}

/** Marks a step and the elements of maps that it is part of as started. */
function touch(plan: Plan, facts: RunFacts, key: StepKey): void {
  facts.touched.add(key);
  const { id, positions } = parseStepKey(key);
  for (const { id: blockId, work, depth } of plan.steps.get(id)?.ancestors ?? []) {
    const block = stepKey(blockId, positions.slice(0, depth));
    facts.entered.add(block);
    if (work.kind === "map") {
      facts.started.set(block, Math.max(facts.started.get(block) ?? 0, positions[depth]! + 1));
    }
  }
}

function readFailure(plan: Plan, facts: RunFacts, key: StepKey, { code, message, details, step }: HistoryError): void {
  const { id } = parseStepKey(key);
  const error = { code, message, details, step: step ?? id };
  // The request of its compensation could not be evaluated.
  facts.completed.delete(key);
  const handler = plan.steps.get(id)?.catches.find(({ on }) => on.has(code) || on.has("*"));
  if (handler === undefined || facts.caught.has(key)) facts.failed.set(key, error);
  else facts.caught.set(key, error);
}

/** Adds the state that a replay started with. */
function readKept(plan: Plan, facts: RunFacts, { values, active, undo, arms }: ReplayStart["kept"]): void {
  for (const [key, output] of Object.entries(values)) {
    touch(plan, facts, key);
    facts.completed.set(key, output);
    facts.sealed.add(key);
  }
  facts.undo.push(...undo);
  for (const [key, arm] of Object.entries(arms)) facts.arms.set(key, arm);
  for (const [key, activity] of Object.entries(active)) {
    touch(plan, facts, key);
    readActivity(plan, facts, key, activity);
  }
}

function readActivity(plan: Plan, facts: RunFacts, key: StepKey, activity: Activity): void {
  const { id, positions } = parseStepKey(key);
  const step = plan.steps.get(id);
  switch (activity.s) {
    case "catch":
      facts.caught.set(key, activity.err);
      return;
    case "timeout":
      facts.timedOut.add(key);
      return;
    case "parallel": {
      if (step?.work.kind !== "parallel") return;
      for (const [name, value] of Object.entries(activity.results)) {
        settle(facts, `${key}.${name}`, value, step.work.collect);
      }
      return;
    }
    case "map": {
      facts.items.set(key, activity.items);
      facts.started.set(key, Math.max(facts.started.get(key) ?? 0, activity.next));
      if (step?.work.kind !== "map") return;
      const resumed = new Set(activity.resume?.flat().map((pending) => positionsOf(pending)[step.depth]));
      for (let position = 0; position < activity.next; position++) {
        if (resumed.has(position)) continue;
        const name = stepKey(id, [...positions, position]);
        settle(facts, name, activity.results[position] ?? null, step.work.collect);
      }
      return;
    }
    default:
      return;
  }
}

function settle(facts: RunFacts, name: string, value: Json, isCollected: boolean): void {
  facts.settled.set(name, isCollected ? (value as ListResult) : { ok: true, value });
  facts.sealed.add(name);
}

/** The positions of pending work: a start, completion or continuation. */
function positionsOf(pending: Pending): Positions {
  if ("id" in pending) return pending.at;
  return parseStepKey("map" in pending ? pending.map : pending.done).positions;
}
