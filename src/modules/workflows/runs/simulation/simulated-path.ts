import type { Json } from "../../definitions/index.ts";
import type { Advance } from "../domain/engine/advance.ts";
import { isCompensation } from "../domain/engine/execution.ts";
import type { HistoryEntry } from "../domain/engine/history-entry.ts";
import type { Plan } from "../domain/engine/plan.ts";
import { parseStepKey, type StepKey, stepKey } from "../domain/engine/step-key.ts";
import type { SimulatedStep } from "./simulation.ts";

type OpenStep = { -readonly [Name in keyof SimulatedStep]: SimulatedStep[Name] };

/** Collects the steps of a simulated run from its advances, in the order in which they started. */
export class SimulatedPath {
  readonly #plan: Plan;
  readonly #steps = new Map<StepKey, OpenStep>();
  /** The length of all inputs and outputs as JSON. */
  bytes = 0;

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  get size(): number {
    return this.#steps.size;
  }

  /** Adds what happened in an advance. */
  add({ history, newTasks, effects, state }: Advance, atMs: number): void {
    for (const entry of history) if ("step" in entry) this.#addEntry(entry, atMs);
    for (const { key, input } of newTasks) this.#setInput(key, input, atMs);
    for (const { key, attempt, request } of effects) {
      this.#setInput(key, request, atMs);
      this.#stepAt(key, atMs).attempts = attempt;
    }
    for (const [key, activity] of Object.entries(state.active)) {
      if (activity.s === "approval") this.#setInput(key, activity.request, atMs);
      if (activity.s === "task") this.#stepAt(key, atMs).attempts = activity.attempt;
      // Blocks have no entry in the history before they end.
      if (activity.s === "parallel" || activity.s === "map") this.#stepAt(key, atMs);
    }
  }

  /** Marks a step whose output is the default. */
  markDefault(key: StepKey): void {
    const step = this.#steps.get(key);
    if (step !== undefined) step.isDefault = true;
  }

  /** The steps. Those in progress are shown until this time. */
  steps(untilMs: number): readonly SimulatedStep[] {
    return [...this.#steps.values()].map((step) => (step.outcome === "open" ? { ...step, endedMs: untilMs } : step));
  }

  #addEntry(entry: HistoryEntry & { readonly step: StepKey }, atMs: number): void {
    const step = this.#stepAt(entry.step, atMs);
    switch (entry.kind) {
      case "step_completed":
        step.outcome = step.error === undefined ? "completed" : "caught";
        step.endedMs = atMs;
        step.output = entry.output;
        this.#count(entry.output);
        return;
      case "step_failed":
        // The steps of a catch may follow.
        step.outcome = "failed";
        step.endedMs = atMs;
        step.error = entry.error;
        this.#count(entry.error as unknown as Json);
        return;
      case "step_cancelled":
        step.outcome = "cancelled";
        step.endedMs = atMs;
        return;
      case "branch_taken":
        step.arm = entry.arm;
        return;
      case "wait_started":
        this.#setInput(entry.step, { any: entry.any as unknown as Json }, atMs);
        return;
      case "timer_started":
        this.#setInput(entry.step, { until: entry.until }, atMs);
        return;
      default:
        return;
    }
  }

  #setInput(key: StepKey, input: Json, atMs: number): void {
    const step = this.#stepAt(key, atMs);
    if (step.input !== undefined) return;
    step.input = input;
    this.#count(input);
  }

  #count(value: Json): void {
    this.bytes += JSON.stringify(value).length;
  }

  /** The step of a key. One that is new has started now, and so have the blocks around it that are new. */
  #stepAt(key: StepKey, atMs: number): OpenStep {
    const known = this.#steps.get(key);
    if (known !== undefined) return known;
    const isUndo = isCompensation(key);
    const { id, positions } = parseStepKey(isUndo ? key.slice(1) : key);
    const { work, ancestors, compensate } = this.#plan.steps.get(id)!;
    if (!isUndo) for (const block of ancestors) this.#stepAt(stepKey(block.id, positions.slice(0, block.depth)), atMs);
    const step: OpenStep = {
      ...{ step: key, kind: (isUndo ? compensate! : { work }).work.kind, startedMs: atMs, endedMs: atMs },
      ...{ outcome: "open", input: undefined, output: undefined, error: undefined, arm: "", attempts: 0 },
      isDefault: false,
    };
    this.#steps.set(key, step);
    return step;
  }
}
