import type { Json } from "../../../definitions/index.ts";
import type { ListOwner, Plan, PlanList, PlanStep, PlanWork } from "../engine/plan.ts";
import type { Activity, Pending } from "../engine/state.ts";
import { type Positions, parseStepKey, type StepKey, stepKey } from "../engine/step-key.ts";
import { readsOf } from "./plan-reads.ts";
import type { ReplayRefusal, ReplayRefusalCode } from "./replay-refusal.ts";
import { type ListResult, listName, type RunFacts } from "./run-facts.ts";

/** The step that a replay continues at. */
export interface ReplayTarget {
  readonly step: PlanStep;
  readonly at: Positions;
}

interface Dependencies {
  /** The plan of the new run. */
  readonly plan: Plan;
  /** The plan of the run that is replayed. */
  readonly oldPlan: Plan;
  readonly facts: RunFacts;
  /** Undefined: continue where the run stopped. */
  readonly target: ReplayTarget | undefined;
  /** Outputs that replace those of the run. */
  readonly values: Readonly<Record<StepKey, Json>>;
  readonly nowMs: number;
}

/** The progress of a list of steps: its output if it is complete, undefined if something of it is still to be executed. */
type Progress = { readonly output: Json } | undefined;

type Arm = (PlanWork & { readonly kind: "branch" })["arms"][number];

type BranchOwner = ListOwner & { readonly kind: "parallel" | "map" };

/**
 * Rebuilds the state of a run from its history, so that it continues at a step. The blocks around that step are open again;
 * in other branches and elements, what has completed stays so, and the rest continues where it stopped.
 */
export class ReplayBuilder {
  readonly values: Record<StepKey, Json> = {};
  readonly active: Record<StepKey, Activity> = {};
  /** The arms of the branches in progress. */
  readonly arms: Record<StepKey, string> = {};
  readonly refusals: ReplayRefusal[] = [];
  readonly usedValues = new Set<StepKey>();
  readonly #dependencies: Dependencies;
  /** Work to start, the first one first. */
  #todo: Pending[] = [];
  /** Completed steps of open lists. */
  readonly #keptSteps = new Set<StepKey>();
  /** Branches and elements that are complete. */
  readonly #keptLists = new Set<string>();
  /** The steps of open lists that never completed and are not executed. */
  readonly #skipped = new Set<string>();
  /** The steps that may be executed. */
  readonly #future = new Set<PlanStep>();
  /** The blocks in progress: of their templates only those of the compensation are still evaluated. */
  readonly #continued = new Set<PlanStep>();

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
    this.#list(dependencies.plan.root, []);
    this.#checkReads();
  }

  /** Work to start, in the order of the engine's stack: the first one last. */
  get todo(): Pending[] {
    return [...this.#todo].reverse();
  }

  /** Whether a completed step stays completed: it is in an open list, or inside a block, branch or element that is complete. */
  isKept(key: StepKey): boolean {
    const { id, positions } = parseStepKey(key);
    let step = this.#dependencies.oldPlan.steps.get(id);
    while (step !== undefined) {
      const at = positions.slice(0, step.depth);
      if (this.#keptSteps.has(stepKey(step.id, at))) return true;
      const { owner } = step.list;
      if (owner.kind === "run") return false;
      if (isBranchOwner(owner) && this.#keptLists.has(listName(owner, at))) return true;
      step = owner.step;
    }
    return false;
  }

  #refuse(code: ReplayRefusalCode, step: StepKey, message: string): void {
    if (!this.refusals.some((refusal) => refusal.code === code && refusal.step === step)) {
      this.refusals.push({ code, step, message });
    }
  }

  // Lists

  /** Rebuilds a list that is not complete for the run. */
  #list(list: PlanList, at: Positions): Progress {
    const { target } = this.#dependencies;
    const pathStep = this.#pathStep(list, at);
    const position = pathStep?.position ?? this.#resumePosition(list, at);
    const before = list.steps.slice(0, position);
    if (position === list.steps.length) {
      // Nothing outside of a complete list may read its outputs, except for those of the run itself.
      for (const step of before) this.#keepStep(step, at, list.owner.kind === "run");
      const last = list.steps.at(-1);
      const output = last === undefined ? null : (this.#outputOf(stepKey(last.id, at)) ?? null);
      return { output };
    }
    for (const step of before) this.#keepStep(step, at, true);
    const step = list.steps[position]!;
    for (const later of list.steps.slice(position + 1)) this.#addFuture(later);
    const isTarget = target !== undefined && pathStep === target.step;
    if (isTarget || !this.#continue(step, at, pathStep !== undefined)) {
      this.#addFuture(step);
      this.#todo.push({ id: step.id, at });
    }
    return undefined;
  }

  /** The step of a list that is the target or contains it. */
  #pathStep(list: PlanList, at: Positions): PlanStep | undefined {
    const { target } = this.#dependencies;
    if (target === undefined || !at.every((position, nth) => target.at[nth] === position)) return undefined;
    return [...target.step.ancestors, target.step].find((step) => step.list === list);
  }

  /** The position of the first step that is executed: the one after the last that completed. */
  #resumePosition(list: PlanList, at: Positions): number {
    const { oldPlan } = this.#dependencies;
    const isComplete = ({ id }: PlanStep) => this.#outputOf(stepKey(id, at)) !== undefined;
    const position = list.steps.findLastIndex(isComplete) + 1;
    for (const step of list.steps.slice(0, position)) {
      const key = stepKey(step.id, at);
      if (isComplete(step) || !oldPlan.steps.has(step.id)) continue;
      this.#refuse("order_changed", key, "It has not completed, but a step after it has: their order has changed.");
    }
    return position;
  }

  #outputOf(key: StepKey): Json | undefined {
    const { values, facts } = this.#dependencies;
    return Object.hasOwn(values, key) ? values[key] : facts.completed.get(key);
  }

  #keepStep({ id }: PlanStep, at: Positions, isVisible: boolean): void {
    const { facts, values } = this.#dependencies;
    const key = stepKey(id, at);
    if (Object.hasOwn(values, key)) this.usedValues.add(key);
    const output = this.#outputOf(key);
    if (facts.completed.has(key)) this.#keptSteps.add(key);
    if (output === undefined) this.#skipped.add(id);
    else if (isVisible) this.values[key] = output;
  }

  // Blocks

  /** Opens a block again. False if nothing of it has been executed: then it starts like any other step. */
  #continue(step: PlanStep, at: Positions, isOnPath: boolean): boolean {
    const key = stepKey(step.id, at);
    const list = isOnPath ? this.#pathList(step) : this.#listInProgress(step, key);
    if (isOnPath && this.#dependencies.facts.sealed.has(key)) {
      this.#refuse(
        "history_sealed",
        key,
        "The run is a replay that did not execute this block. Replay the run before it.",
      );
      return true;
    }
    switch (list?.owner.kind) {
      case undefined:
      case "run":
        return false;
      case "arm":
        this.#continueArm(step, key, list);
        break;
      case "catch":
        this.#continueCatch(step, key, list);
        break;
      case "timeout":
        if (!this.#dependencies.facts.timedOut.has(key)) {
          this.#refuse("not_reached", key, "The wait has not timed out.");
        }
        this.active[key] = { s: "timeout", ...this.#times(step) };
        break;
      case "parallel":
        this.#openBlock(step, list);
        this.#continueParallel(step, key, at);
        return true;
      case "map":
        this.#openBlock(step, list);
        this.#continueMap(step, key, at);
        return true;
    }
    this.#openBlock(step, list!);
    const progress = this.#list(list!, at);
    if (progress !== undefined) this.#todo.push({ done: key, output: progress.output });
    return true;
  }

  /** The list inside a block that leads to the target. */
  #pathList(block: PlanStep): PlanList {
    const { step } = this.#dependencies.target!;
    const path = [...step.ancestors, step];
    return path[path.indexOf(block) + 1]!.list;
  }

  /** The list that a step was executing; undefined if it is to start afresh. */
  #listInProgress({ work, catches }: PlanStep, key: StepKey): PlanList | undefined {
    const { facts } = this.#dependencies;
    const error = facts.caught.get(key);
    if (error !== undefined) return catches.find(({ on }) => on.has(error.code) || on.has("*"))?.list;
    switch (work.kind) {
      case "branch":
        return this.#takenArm(work.arms, key);
      case "parallel":
        return facts.entered.has(key) ? [...work.branches.values()][0] : undefined;
      case "map":
        return facts.items.has(key) ? work.list : undefined;
      case "wait_event":
      case "approval":
        return facts.timedOut.has(key) ? work.onTimeout : undefined;
      default:
        return undefined;
    }
  }

  #continueArm(step: PlanStep, key: StepKey, list: PlanList): void {
    if (step.work.kind !== "branch") return;
    if (this.#takenArm(step.work.arms, key) !== list) {
      this.#refuse("not_reached", key, "The run has not taken the arm with the step.");
    }
    this.active[key] = { s: "arm", ...this.#times(step) };
    this.arms[key] = armOf(step.work.arms, list)!;
  }

  /** The arm that the run has taken. Arms have no names: the same arm of two versions is the one with the same steps. */
  #takenArm(arms: readonly Arm[], key: StepKey): PlanList | undefined {
    const { facts, oldPlan } = this.#dependencies;
    const taken = facts.arms.get(key);
    const old = oldPlan.steps.get(parseStepKey(key).id)?.work;
    if (taken === undefined || old?.kind !== "branch") return undefined;
    const known = ({ list }: Arm) =>
      list.steps.map(({ id }) => oldPlan.steps.get(id)).find((step) => step !== undefined);
    const same = arms.find((arm) => armOf(old.arms, known(arm)?.list) === taken);
    return (same ?? arms.find((arm) => known(arm) === undefined && armOf(arms, arm.list) === taken))?.list;
  }

  #continueCatch(step: PlanStep, key: StepKey, list: PlanList): void {
    const err = this.#dependencies.facts.caught.get(key);
    if (err === undefined) {
      this.#refuse("not_reached", key, "No error of this step has been caught.");
      return;
    }
    const handler = step.catches.find(({ on }) => on.has(err.code) || on.has("*"));
    if (handler?.list !== list) {
      this.#refuse("not_reached", key, `The error ${err.code} of this step is not handled by the catch with the step.`);
    }
    this.active[key] = { s: "catch", sinceMs: this.#dependencies.nowMs, err };
  }

  #continueParallel(step: PlanStep, key: StepKey, at: Positions): void {
    if (step.work.kind !== "parallel") return;
    const { collect, branches } = step.work;
    const results: Record<string, Json> = {};
    for (const [name, list] of branches) {
      const result = this.#branch(list, list.owner as BranchOwner, at, collect);
      if (result !== undefined) results[name] = result.output;
    }
    const open = branches.size - Object.keys(results).length;
    this.active[key] = { s: "parallel", ...this.#times(step), open, results };
    if (open > 0) return;
    const output = Object.fromEntries([...branches.keys()].map((name) => [name, results[name]!]));
    this.#todo.push({ done: key, output });
  }

  #continueMap(step: PlanStep, key: StepKey, at: Positions): void {
    const { facts, target } = this.#dependencies;
    if (step.work.kind !== "map") return;
    const items = facts.items.get(key);
    if (items === undefined) {
      this.#refuse("not_reached", key, "The run has not executed this map.");
      return;
    }
    const next = facts.started.get(key) ?? 0;
    const isOnPath = this.#pathStep(step.list, at) === step && target !== undefined;
    const chosen = isOnPath ? target.at[step.depth]! : undefined;
    if (chosen !== undefined && chosen >= next) {
      this.#refuse("not_reached", key, `The map has not started its element ${chosen}. It has started ${next}.`);
      return;
    }
    const { list, collect } = step.work;
    const results: Json[] = Array(next).fill(null);
    const resume: Pending[][] = [];
    const outer = this.#todo;
    for (let position = 0; position < next; position++) {
      this.#todo = [];
      const result = this.#branch(list, list.owner as BranchOwner, [...at, position], collect);
      if (result !== undefined) results[position] = result.output;
      else if (position === chosen) resume.unshift(this.#todo.reverse());
      else resume.push(this.#todo.reverse());
    }
    this.#todo = outer;
    this.active[key] = {
      ...{ s: "map", ...this.#times(step), items, next, open: 0, results },
      ...(resume.length > 0 && { resume }),
    };
    if (next < items.length) for (const each of list.steps) this.#addFuture(each);
    this.#todo.push({ map: key });
  }

  /** Rebuilds a branch of a parallel or an element of a map. Returns its result if it is complete. */
  #branch(list: PlanList, owner: BranchOwner, at: Positions, isCollected: boolean): Progress {
    const name = listName(owner, at);
    const isOnPath = this.#pathStep(list, at) !== undefined;
    if (isOnPath && this.#dependencies.facts.sealed.has(name)) {
      this.#refuse("history_sealed", name, "The run is a replay that did not execute it. Replay the run before it.");
      return { output: null };
    }
    const settled = isOnPath ? undefined : this.#resultOf(owner, at);
    if (settled !== undefined && (settled.ok || isCollected)) {
      this.#keptLists.add(name);
      return { output: isCollected ? (settled as unknown as Json) : settled.ok ? settled.value : null };
    }
    const progress = this.#list(list, at);
    return progress && isCollected ? { output: { ok: true, value: progress.output } } : progress;
  }

  /** The result that a branch or an element has had in the replayed run; undefined if it had not completed. */
  #resultOf(owner: BranchOwner, at: Positions): ListResult | undefined {
    const { facts, oldPlan } = this.#dependencies;
    const known = facts.settled.get(listName(owner, at));
    if (known !== undefined) return known;
    const old = oldPlan.steps.get(owner.step.id)?.work;
    const list =
      old?.kind === "map" && owner.kind === "map"
        ? old.list
        : old?.kind === "parallel" && owner.kind === "parallel"
          ? old.branches.get(owner.name)
          : undefined;
    const last = list?.steps.at(-1);
    if (last === undefined) return undefined;
    const output = facts.completed.get(stepKey(last.id, at));
    if (output !== undefined) return { ok: true, value: output };
    if (!(old !== undefined && "collect" in old && old.collect)) return undefined;
    const error = list!.steps.map(({ id }) => facts.failed.get(stepKey(id, at))).find((each) => each !== undefined);
    return error && { ok: false, error: { code: error.code, message: error.message } };
  }

  #times(step: PlanStep) {
    const { nowMs } = this.#dependencies;
    const { totalMs } = step.timeout;
    return { sinceMs: nowMs, ...(totalMs !== undefined && { totalMs: nowMs + totalMs }) };
  }

  // Outputs that are read

  /** Notes the templates that a block in progress may still evaluate. */
  #openBlock(step: PlanStep, list: PlanList): void {
    this.#continued.add(step);
    if (list.owner.kind === "catch") return;
    for (const { list: handler } of step.catches) for (const each of handler.steps) this.#addFuture(each);
  }

  #addFuture(step: PlanStep): void {
    this.#future.add(step);
    for (const each of this.#dependencies.plan.steps.values())
      if (each.ancestors.includes(step)) this.#future.add(each);
  }

  /** Refuses steps that read the output of a step that never completed. */
  #checkReads(): void {
    const { plan } = this.#dependencies;
    const readers = [
      ...[...this.#future].map((step) => ({ id: step.id, reads: readsOf(step) })),
      ...[...this.#continued].map(({ id, compensate }) => ({
        id,
        reads: compensate === undefined ? [] : readsOf({ work: compensate.work, compensate: undefined }),
      })),
      { id: "", reads: plan.output?.reads ?? [] },
    ];
    for (const { id, reads } of readers) {
      for (const missing of reads.filter((each) => this.#skipped.has(each))) {
        const reader = id === "" ? "the output of the run" : `the step "${id}"`;
        this.#refuse(
          "output_missing",
          missing,
          `It never completed, and ${reader} reads its output. Set values.${missing}.`,
        );
      }
    }
  }
}

/** The label of an arm in the history. */
function armOf(arms: readonly Arm[], list: PlanList | undefined): string | undefined {
  const position = arms.findIndex((arm) => arm.list === list);
  if (position < 0) return undefined;
  return arms[position]!.when === undefined ? "else" : String(position);
}

function isBranchOwner(owner: ListOwner): owner is BranchOwner {
  return owner.kind === "parallel" || owner.kind === "map";
}
