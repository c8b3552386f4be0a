import type { Json } from "../../../definitions/index.ts";
import type { HistoryEntry } from "../engine/history-entry.ts";
import type { Plan, PlanStep } from "../engine/plan.ts";
import type { Pending, RunError, RunState, Undo } from "../engine/state.ts";
import { parseStepKey, type StepKey, stepKey } from "../engine/step-key.ts";
import { ReplayBuilder, type ReplayTarget } from "./replay-builder.ts";
import type { ReplayRefusal } from "./replay-refusal.ts";
import { type RunFacts, readRunFacts } from "./run-facts.ts";

/** The run that is replayed. */
export interface ReplaySource {
  readonly runId: string;
  readonly plan: Plan;
  readonly status: string;
  readonly input: Json;
  readonly error: RunError | null;
  /** All entries of its history, in order. */
  readonly history: readonly HistoryEntry[];
}

/** A replay's differences from the run that it replays. */
export interface ReplayRequest {
  /** The step to continue at. Undefined: the step that failed, or where the run stopped. Empty: the beginning. */
  readonly from: StepKey | undefined;
  /** Replaces the input. */
  readonly input: Json | undefined;
  /** Outputs that replace those of earlier steps, by step key. */
  readonly values: Readonly<Record<StepKey, Json>>;
}

/** The start of a replay. */
export interface ReplayPlan {
  readonly state: RunState;
  /** The step that it continues at. Empty if it continues where the run stopped, "start" for the beginning. */
  readonly from: StepKey;
  /** The completed steps that are not executed again. */
  readonly kept: readonly StepKey[];
  /** The steps that the run has started and that start again. */
  readonly repeated: readonly StepKey[];
  /** The steps that start first. */
  readonly continued: readonly StepKey[];
}

/** Plans a replay of a run on a version of its definition, or says why it is not possible. */
export function planReplay(
  source: ReplaySource,
  plan: Plan,
  request: ReplayRequest,
  nowMs: number,
): ReplayPlan | { readonly refusals: readonly ReplayRefusal[] } {
  const replay = { source, plan, facts: readRunFacts(source.plan, source.history), request, nowMs };
  if (request.from !== undefined) return planFrom(replay, namedTarget(plan, request.from));
  const planned = planFrom(replay, defaultTarget(source, plan));
  if (!("refusals" in planned) || planned.refusals.some(({ code }) => code !== "compensated")) return planned;
  // The effects before the failed step are undone, so the run continues at the first of them.
  const undone = new Set(planned.refusals.map(({ step }) => rootOf(source.plan, step)));
  const first = plan.root.steps.find(({ id }) => undone.has(id));
  return first === undefined ? planned : planFrom(replay, { step: first, at: [], from: first.id });
}

/** Where a replay continues: a step, where the run stopped, or a reason why that cannot be said. */
type Target = (ReplayTarget & { readonly from: StepKey }) | "stopped" | ReplayRefusal;

function namedTarget(plan: Plan, from: StepKey): Target {
  const first = plan.root.steps[0];
  if ((from === "" || (from === "start" && !plan.steps.has(from))) && first !== undefined) {
    return { step: first, at: [], from: "start" };
  }
  const { id, positions } = parseStepKey(from);
  const step = plan.steps.get(id);
  if (step === undefined) {
    const message = `Version ${plan.version} of ${plan.key} has no such step.`;
    return { code: "unknown_step", step: from, message };
  }
  if (positions.length !== step.depth || stepKey(id, positions) !== from || !positions.every(Number.isSafeInteger)) {
    const example = stepKey(id, Array(step.depth).fill(0));
    const message = `It is inside of ${step.depth} maps: name one of its executions, such as ${example}.`;
    return { code: "unknown_step", step: from, message };
  }
  return { step, at: positions, from };
}

function defaultTarget({ status, error, history }: ReplaySource, plan: Plan): Target {
  if (status === "succeeded") {
    return { code: "step_required", step: "", message: "The run succeeded: name the step to replay it from." };
  }
  if (error === null || error.step === "") return "stopped";
  const failed = history.findLast(
    (entry) => entry.kind === "step_failed" && parseStepKey(entry.step).id === error.step,
  );
  return failed === undefined || !("step" in failed) ? "stopped" : namedTarget(plan, failed.step);
}

/** The step of the outermost list that a step is part of. */
function rootOf(plan: Plan, key: StepKey): string | undefined {
  const step = plan.steps.get(parseStepKey(key).id);
  return (step?.ancestors[0] ?? step)?.id;
}

/** A replay, whatever step it continues at. */
interface Replay {
  readonly source: ReplaySource;
  readonly plan: Plan;
  readonly facts: RunFacts;
  readonly request: ReplayRequest;
  readonly nowMs: number;
}

function planFrom(replay: Replay, target: Target): ReplayPlan | { readonly refusals: readonly ReplayRefusal[] } {
  if (typeof target === "object" && "code" in target) return { refusals: [target] };
  const place = target === "stopped" ? undefined : target;
  const nesting = place && nestingRefusal(replay.source.plan, replay.plan, place);
  if (nesting !== undefined) return { refusals: [nesting] };
  const rebuilt = rebuild(replay, replay.plan, place);
  const before = rebuildOld(replay, place) ?? rebuilt;
  const undo = undoOf(replay, rebuilt, before);
  const refusals = [
    ...rebuilt.refusals,
    ...valueRefusals(replay, rebuilt),
    ...repeatRefusals(replay, rebuilt, before),
    ...undoneRefusals(replay, rebuilt),
    ...undo.refusals,
  ];
  return refusals.length > 0 ? { refusals } : toPlan(replay, rebuilt, undo.kept, place?.from ?? "");
}

function rebuild(
  { source, facts, request, nowMs }: Replay,
  plan: Plan,
  target: ReplayTarget | undefined,
): ReplayBuilder {
  return new ReplayBuilder({ oldPlan: source.plan, facts, values: request.values, nowMs, plan, target });
}

/** The same replay on the version of the run; undefined if that is the version, or if it has no such step. */
function rebuildOld(replay: Replay, target: ReplayTarget | undefined): ReplayBuilder | undefined {
  const { plan: oldPlan } = replay.source;
  if (oldPlan === replay.plan) return undefined;
  if (target === undefined) return rebuild(replay, oldPlan, undefined);
  const step = oldPlan.steps.get(target.step.id);
  return step && rebuild(replay, oldPlan, { step, at: target.at });
}

function valueRefusals({ request }: Replay, { usedValues }: ReplayBuilder): ReplayRefusal[] {
  const message = "values may only name steps that come before the first one that is executed and that it can read.";
  return Object.keys(request.values)
    .filter((key) => !usedValues.has(key))
    .map((step) => ({ code: "unknown_value", step, message }));
}

/** Steps that the new version would execute again, although they completed before the step. */
function repeatRefusals({ facts, plan }: Replay, rebuilt: ReplayBuilder, before: ReplayBuilder): ReplayRefusal[] {
  const message = `It has completed, but version ${plan.version} would execute it after the step that the replay starts from.`;
  return [...facts.completed.keys()]
    .filter((key) => before.isKept(key) && !rebuilt.isKept(key) && plan.steps.has(parseStepKey(key).id))
    .map((step) => ({ code: "would_run_again", step, message }));
}

function undoneRefusals({ facts, request }: Replay, rebuilt: ReplayBuilder): ReplayRefusal[] {
  return [...facts.undone]
    .filter((key) => rebuilt.isKept(key) && !Object.hasOwn(request.values, key))
    .map((step) => ({
      ...{ code: "compensated", step },
      message: `Its effect was undone when the run ended. Replay the run from it or from an earlier step, or set values.${step}.`,
    }));
}

/** The compensations that stay registered. */
function undoOf(
  { source, plan, facts }: Replay,
  rebuilt: ReplayBuilder,
  before: ReplayBuilder,
): { kept: Undo[]; refusals: ReplayRefusal[] } {
  const kept: Undo[] = [];
  const refusals: ReplayRefusal[] = [];
  for (const undo of facts.undo) {
    const key = undo.key.slice(1);
    const { id } = parseStepKey(key);
    const step = plan.steps.get(id);
    if (step === undefined ? !before.isKept(key) : !rebuilt.isKept(key)) continue;
    // A version without the compensation says that there is nothing to undo.
    if (step !== undefined && step.compensate === undefined) continue;
    if (step?.compensate?.work.kind === source.plan.steps.get(id)?.compensate?.work.kind) {
      kept.push(undo);
      continue;
    }
    const message = `It has completed, and version ${plan.version} cannot compensate it with the stored request.`;
    refusals.push({ code: "compensation_missing", step: key, message });
  }
  return { kept, refusals };
}

function toPlan(
  { source, plan, facts, request }: Replay,
  rebuilt: ReplayBuilder,
  undo: Undo[],
  from: StepKey,
): ReplayPlan {
  const { values, active, arms, todo } = rebuilt;
  const state: RunState = {
    ...{ input: request.input === undefined ? source.input : request.input, startedAtMs: 0, deadlineMs: 0 },
    ...{ values, active, undo },
    // A copy, because the state changes before the history is stored.
    replay: { of: source.runId, from, kept: structuredClone({ values, active, undo, arms }) },
    ...(todo.length > 0 && { todo }),
  };
  const kept = [...facts.completed.keys()].filter((key) => rebuilt.isKept(key));
  const repeated = [...facts.touched].filter(
    (key) => !rebuilt.isKept(key) && !(key in active) && plan.steps.has(parseStepKey(key).id),
  );
  return { state, from, kept, repeated, continued: startsOf(todo, active) };
}

/** The steps that start first, in order. */
function startsOf(todo: readonly Pending[], active: RunState["active"]): StepKey[] {
  return todo.toReversed().flatMap((pending) => {
    if ("id" in pending) return stepKey(pending.id, pending.at);
    if ("done" in pending) return [];
    const map = active[pending.map];
    if (map?.s !== "map") return [];
    return map.resume?.flatMap((element) => startsOf(element, active)) ?? pending.map;
  });
}

/** Refuses a step that is inside of other blocks than it was. */
function nestingRefusal(oldPlan: Plan, plan: Plan, { step }: ReplayTarget): ReplayRefusal | undefined {
  const old = oldPlan.steps.get(step.id);
  const before = old && nestingOf(old);
  const now = nestingOf(step);
  if (before === undefined || before === now) return undefined;
  const message = `It is in ${now || "no block"} in version ${plan.version}, and in ${before || "no block"} in version ${oldPlan.version}.`;
  return { code: "nesting_changed", step: step.id, message };
}

/** The blocks around a step, from the outermost: `parallel checks.legal, map pages`. */
function nestingOf(step: PlanStep): string {
  const path: string[] = [];
  for (let { owner } = step.list; owner.kind !== "run"; owner = owner.step.list.owner) {
    path.unshift(`${owner.kind} ${owner.step.id}${owner.kind === "parallel" ? `.${owner.name}` : ""}`);
  }
  return path.join(", ");
}
