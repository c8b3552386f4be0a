import { type Definition, defaultRetry, type Json } from "../../src/modules/workflows/definitions/index.ts";
import { Advance } from "../../src/modules/workflows/runs/domain/engine/advance.ts";
import type { Effect, RunEnd } from "../../src/modules/workflows/runs/domain/engine/advance-result.ts";
import type { AdvanceBudget } from "../../src/modules/workflows/runs/domain/engine/execution.ts";
import { createPlan, type Plan } from "../../src/modules/workflows/runs/domain/engine/plan.ts";
import {
  createRunState,
  type Decision,
  type Mail,
  type RunEvent,
  type RunState,
  wakeTime,
} from "../../src/modules/workflows/runs/domain/engine/state.ts";
import type { RunResult } from "./reference-interpreter.ts";
import type { Attempt, Script, Decision as ScriptedDecision } from "./reference-script.ts";

/** How the engine is driven. None of it may change the result of a run. */
export interface Driving {
  readonly budget?: AdvanceBudget;
  /** Chooses disturbances: a whole number below a limit. Always 0: none. */
  readonly choose?: (limit: number) => number;
}

/** An event that is applied at a time. */
interface Scheduled {
  readonly atMs: number;
  readonly event: RunEvent;
}

/** The parts of the result of a run that the language defines. */
export type DrivenResult = Omit<RunResult, "hadTie"> & {
  /** The number of advances that the run took. */
  readonly advances: number;
};

const advancesMax = 20_000;

/** Executes a run with the engine on a virtual clock. The state is serialised between advances, as in the database. */
export function drive(definition: Definition, script: Script, driving: Driving = {}): DrivenResult {
  return new EngineDriver(definition, script, driving).run();
}

class EngineDriver {
  readonly #plan: Plan;
  readonly #script: Script;
  readonly #budget: AdvanceBudget | undefined;
  readonly #choose: (limit: number) => number;
  #stateJson: string;
  #mail: Mail[] = [];
  #scheduled: Scheduled[] = [];
  #nowMs = 0;
  #ids = 0;
  #advances = 0;
  #end: RunEnd | undefined;
  readonly #taskKeys = new Map<string, { key: string; attemptMs: number }>();
  readonly #performed = new Set<string>();
  readonly #approvals = new Set<string>();
  readonly #completed: { stepKey: string; atMs: number }[] = [];
  readonly #outputs = new Map<string, Json>();
  readonly #inputs = new Map<string, Json>();
  readonly #compensations: { stepKey: string; errorCode: string | undefined }[] = [];

  constructor(definition: Definition, script: Script, { budget, choose = () => 0 }: Driving) {
    this.#plan = createPlan(definition, "definition", 1, defaultRetry);
    this.#script = script;
    this.#budget = budget;
    this.#choose = choose;
    this.#stateJson = JSON.stringify(createRunState(script.input));
  }

  run(): DrivenResult {
    const { events, cancel } = this.#script;
    for (const { atMs, ...mail } of events) this.#schedule(atMs, { kind: "mail", mail });
    if (cancel !== undefined) {
      this.#schedule(cancel.atMs, { kind: "cancel", by: "user:ann", reason: "", compensate: cancel.compensate });
    }
    this.#advance([{ kind: "start" }]);
    while (this.#end === undefined) {
      if (this.#advances > advancesMax) throw new Error("The run does not end.");
      const wakeMs = this.#wakeMs();
      const nextMs = Math.min(...this.#scheduled.map(({ atMs }) => atMs));
      if (wakeMs > nextMs) this.#deliver(nextMs);
      else if (wakeMs < Number.POSITIVE_INFINITY) this.#tick(wakeMs);
      else throw new Error("The run waits for nothing.");
    }
    return {
      ...this.#end,
      endedAtMs: this.#nowMs,
      completed: this.#completed,
      outputs: this.#outputs,
      inputs: this.#inputs,
      compensations: this.#compensations,
      advances: this.#advances,
    };
  }

  #schedule(atMs: number, event: RunEvent): void {
    this.#scheduled.push({ atMs, event });
  }

  #state(): RunState {
    return JSON.parse(this.#stateJson) as RunState;
  }

  /** The virtual time of the next tick. */
  #wakeMs(): number {
    const atMs = wakeTime(this.#state(), this.#clockMs());
    return atMs === undefined ? Number.POSITIVE_INFINITY : Math.max(atMs - this.#script.startedAtMs, this.#nowMs);
  }

  #clockMs(): number {
    return this.#script.startedAtMs + this.#nowMs;
  }

  #tick(atMs: number): void {
    this.#nowMs = atMs;
    if (this.#choose(8) === 1) this.#pauseAndResume([]);
    // Resuming a run includes a tick.
    if (this.#end === undefined && this.#wakeMs() <= atMs) this.#advance([{ kind: "tick" }]);
  }

  /** Applies all events of a time, in one advance or in several. */
  #deliver(atMs: number): void {
    this.#nowMs = atMs;
    const events = this.#scheduled.filter((each) => each.atMs === atMs).map(({ event }) => event);
    this.#scheduled = this.#scheduled.filter((each) => each.atMs !== atMs);
    // A cancellation of a run that compensates is outside of the language.
    const isEnding = this.#state().ending !== undefined;
    const batch = events.filter(({ kind }) => !(kind === "cancel" && isEnding));
    if (batch.length === 0) return;
    const repeated = batch.filter(({ kind }) => kind !== "mail");
    const choice = this.#choose(8);
    if (choice === 1 && batch.length === 1) this.#pauseAndResume(batch);
    else if (choice === 2) this.#applyAll([...batch, { kind: "tick" }, ...repeated]);
    else if (choice === 3) this.#applyAll([{ kind: "tick" }, ...batch]);
    else if (choice < 6) this.#applyAll(batch);
    else for (const event of batch) this.#applyAll([event]);
  }

  /**
   * Applies events, in one advance if it can do all that follows from them. Steps that are left over start before the next
   * event: the language does not say which is first, and the reference interpreter leaves nothing over.
   */
  #applyAll(events: readonly RunEvent[]): void {
    let rest = events;
    while (rest.length > 0 && this.#end === undefined) {
      rest = rest.slice(this.#advance(rest));
      while (this.#end === undefined && this.#state().todo !== undefined) this.#advance([{ kind: "tick" }]);
    }
  }

  /** Pauses the run for no time at all. */
  #pauseAndResume(events: readonly RunEvent[]): void {
    this.#advance([{ kind: "pause", by: "user:ann", reason: "" }]);
    for (const event of events) this.#advance([event]);
    this.#advance([{ kind: "resume", by: "user:ann" }]);
  }

  /** Applies events until steps are left over; returns the number of applied events. */
  #advance(events: readonly RunEvent[]): number {
    if (this.#end !== undefined) return 0;
    this.#advances++;
    const nowMs = this.#clockMs();
    const advance = new Advance(this.#plan, this.#state(), {
      nowMs,
      run: { ...this.#script.run, started_at: new Date(this.#script.startedAtMs) },
      mail: this.#mail,
      newId: () => `id${++this.#ids}`,
      ...(this.#budget !== undefined && { budget: this.#budget }),
    });
    let applied = 0;
    for (const event of events) {
      if (event.kind === "mail") this.#mail.push(event.mail);
      advance.apply(event);
      applied++;
      if (advance.state.todo !== undefined) break;
    }
    this.#stateJson = JSON.stringify(advance.state);
    const consumed = new Set(advance.consumed.map(({ eventId }) => eventId));
    this.#mail = this.#mail.filter(({ eventId }) => !consumed.has(eventId));
    this.#record(advance);
    for (const { taskId, key, input, attemptMs } of advance.newTasks) {
      this.#inputs.set(key, input);
      this.#taskKeys.set(taskId, { key, attemptMs });
      this.#attempt(key, 1, 0, attemptMs);
    }
    for (const { taskId, attempt, delayMs } of advance.retriedTasks) {
      const { key, attemptMs } = this.#taskKeys.get(taskId)!;
      this.#attempt(key, attempt, delayMs, attemptMs);
    }
    for (const effect of advance.effects) this.#perform(effect);
    this.#decideNewApprovals();
    this.#end = advance.ended;
    return applied;
  }

  #record({ history }: Advance): void {
    for (const entry of history) {
      if (entry.kind === "step_completed") {
        const { step: stepKey, output } = entry;
        if (stepKey.startsWith("~")) {
          this.#compensations.push({ stepKey, errorCode: undefined });
          continue;
        }
        this.#completed.push({ stepKey, atMs: this.#nowMs });
        this.#outputs.set(stepKey, output);
      } else if (entry.kind === "step_failed" && entry.step.startsWith("~")) {
        this.#compensations.push({ stepKey: entry.step, errorCode: entry.error.code });
      }
    }
  }

  // The world outside

  /** Plays an attempt of a task. */
  #attempt(key: string, attempt: number, delayMs: number, attemptMs: number): void {
    const scripted = this.#script.attempt(key, attempt);
    const leasedMs = this.#nowMs + delayMs + (scripted?.queuedMs ?? 0);
    if (scripted === undefined || scripted.afterMs >= attemptMs) {
      const failure = { code: "attempt_timeout", message: "", details: null, retryable: true };
      this.#schedule(leasedMs + attemptMs, { kind: "attempt_failed", key, attempt, ...failure });
    } else {
      this.#schedule(leasedMs + scripted.afterMs, outcomeOf("attempt", key, attempt, scripted));
    }
  }

  /** Performs an effect, unless it was performed before. */
  #perform({ key, attempt, kind, request }: Effect): void {
    const name = `${key} ${attempt}`;
    if (this.#performed.has(name)) return;
    this.#performed.add(name);
    if (kind === "subworkflow") this.#inputs.set(key, (request as { input: Json }).input);
    const scripted = this.#script.attempt(key, attempt);
    if (scripted === undefined) return;
    this.#schedule(
      this.#nowMs + (scripted.queuedMs ?? 0) + scripted.afterMs,
      outcomeOf("effect", key, attempt, scripted),
    );
  }

  #decideNewApprovals(): void {
    for (const [key, activity] of Object.entries(this.#state().active)) {
      if (activity.s !== "approval" || this.#approvals.has(key)) continue;
      this.#approvals.add(key);
      for (const scripted of this.#script.decisions(key)) {
        const atMs = this.#nowMs + scripted.afterMs;
        if (!this.#mayDecide(key, scripted)) continue;
        this.#schedule(atMs, { kind: "decision", key, decision: this.#decisionAt(atMs, scripted) });
      }
    }
  }

  /** The check that is made before a decision reaches the engine. */
  #mayDecide(key: string, { user, roles, comment }: ScriptedDecision): boolean {
    const { work } = this.#plan.steps.get(key.replace(/\[.*$/, ""))!;
    if (work.kind !== "approval" || (work.commentRequired && comment === "")) return false;
    return work.by.includes(`user:${user}`) || roles.some((role) => work.by.includes(`role:${role}`));
  }

  #decisionAt(atMs: number, { user, approved, comment }: ScriptedDecision): Decision {
    return { by: user, approved, comment, at: new Date(this.#script.startedAtMs + atMs).toISOString() };
  }
}

function outcomeOf(source: "attempt" | "effect", key: string, attempt: number, scripted: Attempt): RunEvent {
  if ("output" in scripted) return { kind: `${source}_succeeded`, key, attempt, output: scripted.output };
  const { code, message = code, details = null, retryable = true } = scripted;
  const failure = { code: code === "" ? "task_failed" : code, message, details, retryable };
  return { kind: `${source}_failed`, key, attempt, ...failure };
}
