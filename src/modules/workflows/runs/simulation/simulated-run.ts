import { Advance } from "../domain/engine/advance.ts";
import { isCompensation } from "../domain/engine/execution.ts";
import type { Plan } from "../domain/engine/plan.ts";
import { createRunState, type Mail, type RunEvent, type RunState, statusOf, wakeTime } from "../domain/engine/state.ts";
import { parseStepKey, type StepKey } from "../domain/engine/step-key.ts";
import { SimulatedPath } from "./simulated-path.ts";
import {
  type SimulatedDecision,
  type Simulation,
  type SimulationScript,
  type SimulationStop,
  simulationLimits,
} from "./simulation.ts";

/** An event that is applied at a virtual time. */
interface Scheduled {
  readonly atMs: number;
  readonly event: RunEvent;
}

const never = Number.POSITIVE_INFINITY;

/**
 * Executes a run on a virtual clock. Yields after each advance, which is as long as one of a real run, so that the caller
 * can leave the event loop to others.
 */
export function* simulateRun(plan: Plan, script: SimulationScript): Generator<void, Simulation> {
  const run = new SimulatedRun(plan, script);
  run.start();
  while (run.step()) yield;
  return run.result();
}

class SimulatedRun {
  readonly #plan: Plan;
  readonly #script: SimulationScript;
  readonly #state: RunState;
  readonly #path: SimulatedPath;
  readonly #variable: Readonly<Record<string, unknown>>;
  #mail: readonly Mail[] = [];
  #scheduled: Scheduled[] = [];
  /** Milliseconds since the start. */
  #nowMs = 0;
  #ids = 0;
  #last: Advance | undefined;
  #stoppedBy: SimulationStop | undefined;
  readonly #cost = { commits: 0, expressionSteps: 0, tasks: 0, effects: 0 };
  /** The size of the state when it was last measured, and the most by which it can have grown since. */
  readonly #attemptMs = new Map<string, { readonly key: StepKey; readonly ms: number }>();
  readonly #performed = new Set<string>();
  readonly #approvals = new Set<StepKey>();
  readonly #usedStubs = new Set<string>();
  readonly #withoutStub = new Set<string>();
  readonly #notes: string[] = [];

  constructor(plan: Plan, script: SimulationScript) {
    this.#plan = plan;
    this.#script = script;
    this.#state = createRunState(script.input);
    this.#path = new SimulatedPath(plan);
    this.#variable = { ...script.run, started_at: new Date(script.startedAtMs) };
  }

  start(): void {
    for (const [nth, { afterMs, ...mail }] of this.#script.events.entries()) {
      this.#schedule(afterMs, { kind: "mail", mail: { ...mail, eventId: `simulated-${nth}` } });
    }
    this.#advance({ kind: "start" });
  }

  /** Makes one advance; false if there is nothing more to do. */
  step(): boolean {
    if (this.#last?.ended !== undefined || this.#stoppedBy !== undefined) return false;
    const wakeMs = Math.max((wakeTime(this.#state, this.#clockMs()) ?? never) - this.#script.startedAtMs, this.#nowMs);
    const next = this.#state.todo === undefined ? this.#nextScheduled() : undefined;
    const atMs = Math.min(next?.atMs ?? never, wakeMs);
    if (atMs > this.#script.timeMsMax) {
      this.#nowMs = Math.max(this.#nowMs, this.#script.timeMsMax);
      this.#stoppedBy = "max_time";
      return false;
    }
    this.#nowMs = atMs;
    if (next === undefined || wakeMs < next.atMs) this.#advance({ kind: "tick" });
    else {
      this.#scheduled.splice(this.#scheduled.indexOf(next), 1);
      this.#advance(next.event);
    }
    return true;
  }

  result(): Simulation {
    const ended = this.#last?.ended;
    const status = statusOf(this.#state);
    return {
      status: ended?.status ?? (status === "running" ? "running" : "waiting"),
      output: ended?.output ?? null,
      error: ended?.error,
      durationMs: this.#nowMs,
      stoppedBy: this.#stoppedBy,
      path: this.#path.steps(this.#nowMs),
      cost: { steps: this.#path.size, ...this.#cost },
      stepsWithoutStub: [...this.#withoutStub],
      unusedStubs: [...this.#script.stubs.keys()].filter((name) => !this.#usedStubs.has(name)),
      notes: this.#notes,
    };
  }

  #clockMs(): number {
    return this.#script.startedAtMs + this.#nowMs;
  }

  #schedule(atMs: number, event: RunEvent): void {
    this.#scheduled.push({ atMs, event });
  }

  /** The next event; of several at the same time, the one that was scheduled first. */
  #nextScheduled(): Scheduled | undefined {
    let next: Scheduled | undefined;
    for (const each of this.#scheduled) if (next === undefined || each.atMs < next.atMs) next = each;
    return next;
  }

  #advance(event: RunEvent): void {
    this.#apply(event);
    const { steps, pathBytes, expressionSteps } = simulationLimits;
    if (this.#last?.ended !== undefined) return;
    if (this.#path.size > steps) this.#stoppedBy = "max_steps";
    else if (this.#path.bytes > pathBytes) this.#stoppedBy = "max_bytes";
    else if (this.#cost.expressionSteps > expressionSteps) this.#stoppedBy = "max_expression_steps";
  }

  #apply(event: RunEvent): void {
    const advance = new Advance(this.#plan, this.#state, {
      nowMs: this.#clockMs(),
      ...(this.#last !== undefined && { stateBytes: this.#last.size.heldBytes }),
      run: this.#variable,
      mail: this.#mail,
      isSimulated: true,
      newId: () => `simulated-${++this.#ids}`,
    });
    advance.apply(event);
    this.#last = advance;
    this.#mail = advance.mail;
    this.#path.add(advance, this.#nowMs);
    this.#cost.commits++;
    this.#cost.expressionSteps += advance.meter.steps;
    this.#cost.tasks += advance.newTasks.length;
    this.#playTasks(advance);
    this.#playEffects(advance);
    this.#playDecisions();
  }

  #playTasks({ newTasks, retriedTasks }: Advance): void {
    for (const { taskId, key, attemptMs } of newTasks) {
      this.#attemptMs.set(taskId, { key, ms: attemptMs });
      this.#playAttempt("attempt", key, 1, 0, attemptMs);
    }
    for (const { taskId, attempt, delayMs } of retriedTasks) {
      const { key, ms } = this.#attemptMs.get(taskId)!;
      this.#playAttempt("attempt", key, attempt, delayMs, ms);
    }
  }

  #playEffects({ effects }: Advance): void {
    for (const { key, attempt } of effects) {
      const name = `${key} ${attempt}`;
      // An effect whose result takes long is performed again without further effect.
      if (this.#performed.has(name)) continue;
      this.#performed.add(name);
      this.#cost.effects++;
      this.#playAttempt("effect", key, attempt, 0, never);
    }
  }

  #playAttempt(source: "attempt" | "effect", key: StepKey, attempt: number, delayMs: number, attemptMs: number): void {
    const { outcome, afterMs, includesWait } = this.#outcomeOf(key, attempt);
    const startMs = this.#nowMs + delayMs;
    if (afterMs >= attemptMs && !includesWait) {
      const failure = {
        code: "attempt_timeout",
        message: "The attempt took too long.",
        details: null,
        retryable: true,
      };
      this.#schedule(startMs + attemptMs, { kind: "attempt_failed", key, attempt, ...failure });
    } else if ("output" in outcome) {
      this.#schedule(startMs + afterMs, { kind: `${source}_succeeded`, key, attempt, output: outcome.output });
    } else {
      this.#schedule(startMs + afterMs, { kind: `${source}_failed`, key, attempt, details: null, ...outcome });
    }
  }

  #outcomeOf(key: StepKey, attempt: number) {
    const id = idOf(key);
    const name = [key, id].find((each) => this.#script.stubs.has(each));
    if (name === undefined) {
      this.#withoutStub.add(id);
      this.#path.markDefault(key);
      return { outcome: { output: {} }, afterMs: 0, includesWait: false };
    }
    this.#usedStubs.add(name);
    const { outcomes, afterMs, includesWait = false } = this.#script.stubs.get(name)!;
    return { outcome: outcomes[Math.min(attempt, outcomes.length) - 1]!, afterMs, includesWait };
  }

  /** Schedules the decisions on approvals that have just been requested. */
  #playDecisions(): void {
    for (const [key, activity] of Object.entries(this.#state.active)) {
      if (activity.s !== "approval" || this.#approvals.has(key)) continue;
      this.#approvals.add(key);
      for (const decision of this.#script.decisions) {
        if (decision.step === key || decision.step === idOf(key)) this.#scheduleDecision(key, decision);
      }
    }
  }

  #scheduleDecision(key: StepKey, { by, roles, approved, comment, afterMs }: SimulatedDecision): void {
    const { work } = this.#plan.steps.get(parseStepKey(key).id)!;
    if (work.kind !== "approval") return;
    const isAllowed = work.by.some((who) => who === `user:${by}` || roles.some((role) => who === `role:${role}`));
    if (!isAllowed) {
      this.#notes.push(`The decision of ${by} on ${key} was ignored: this approval is for ${work.by.join(", ")}.`);
      return;
    }
    if (work.commentRequired && comment.trim() === "") {
      this.#notes.push(`The decision of ${by} on ${key} was ignored: this approval requires a comment.`);
      return;
    }
    const atMs = this.#nowMs + afterMs;
    const at = new Date(this.#script.startedAtMs + atMs).toISOString();
    this.#schedule(atMs, { kind: "decision", key, decision: { by, approved, comment, at } });
  }
}

/** The step id of a key, with the tilde of a compensation. */
function idOf(key: StepKey): string {
  return isCompensation(key) ? `~${parseStepKey(key.slice(1)).id}` : parseStepKey(key).id;
}
