import { type AdvanceBudget, type AdvanceContext, Execution, noteApproval, runError } from "./execution.ts";
import type { Plan } from "./plan.ts";
import { failRun, retryCompensations, stopRun } from "./run-end.ts";
import { historyBytesMax, historyTooLarge } from "./size-limits.ts";
import { type Activity, isAttemptOpen, type RunEvent, type RunState } from "./state.ts";
import type { StepKey } from "./step-key.ts";
import { completeAttempt, failAttempt, timeOutStep } from "./steps/attempts.ts";
import { continueMap } from "./steps/blocks.ts";
import { continueEffect } from "./steps/external-work.ts";
import { completeReplayedStep, completeRoot, completeStep, startList } from "./steps/step-end.ts";
import { startStep } from "./steps/step-start.ts";
import { decideApproval, offerMail, receiveMail, timeOutWait } from "./steps/waits.ts";

const defaultBudget: AdvanceBudget = { starts: 1000, expressionSteps: 50_000, bytes: 4 * 1024 * 1024 };
const never = Number.POSITIVE_INFINITY;

/**
 * Advances one run. `apply` takes an event and executes its consequences within the budget of one advance. Pure apart from
 * changing `state`: time, ids and mail come in as arguments.
 */
export class Advance extends Execution {
  readonly #budget: AdvanceBudget;
  #starts = 0;

  constructor(plan: Plan, state: RunState, context: AdvanceContext) {
    super(plan, state, context);
    this.#budget = context.budget ?? defaultBudget;
  }

  /** Applies an event, and starts the steps that follow from it. */
  apply(event: RunEvent): void {
    if (this.ended !== undefined) return;
    this.#applyEvent(event);
    this.#startSteps();
    this.state.historyBytes = this.size.historyBytes(this.history.length);
  }

  #applyEvent(event: RunEvent): void {
    const { state } = this;
    switch (event.kind) {
      case "start":
        this.#start();
        return;
      case "tick":
        if (!state.paused) this.#tick();
        return;
      case "attempt_succeeded":
      case "effect_succeeded":
        if (state.paused) keepOutcome(state, event);
        else completeAttempt(this, event.key, event.attempt, event.output);
        return;
      case "attempt_failed":
      case "effect_failed":
        if (state.paused) keepOutcome(state, event);
        else failAttempt(this, event.key, event.attempt, event);
        return;
      case "mail":
        receiveMail(this, event.mail);
        return;
      case "decision":
        if (state.paused) this.#keepDecision(event);
        else decideApproval(this, event.key, event.decision);
        return;
      case "pause":
        this.#pause(event.by, event.reason);
        return;
      case "resume":
        this.#resume(event.by);
        return;
      case "cancel":
        this.#cancel(event);
        return;
      case "retry_compensations":
        retryCompensations(this, event);
        return;
      case "abort":
        // A run that cannot go on while it compensates does not compensate further.
        if (state.ending !== undefined) stopRun(this, state.ending.status, state.ending.error, false);
        else failRun(this, "failed", event.error);
        return;
    }
  }

  /** Starts steps, depth first, until none is left or the work of one advance is done. False if some are left. */
  #startSteps(): boolean {
    const { state, stack, plan } = this;
    if (state.todo !== undefined) delete state.todo;
    this.#failIfHistoryIsFull();
    while (stack.length > 0 && this.ended === undefined) {
      if (state.paused || this.#isBudgetUsed()) {
        state.todo = stack;
        return false;
      }
      this.#starts++;
      const next = stack.pop()!;
      if ("map" in next) continueMap(this, next.map);
      else if ("done" in next) completeReplayedStep(this, next.done, next.output);
      else startStep(this, plan.steps.get(next.id)!, next.at);
      this.#failIfHistoryIsFull();
    }
    return true;
  }

  #isBudgetUsed(): boolean {
    const { starts, expressionSteps, bytes } = this.#budget;
    return this.#starts >= starts || this.meter.steps >= expressionSteps || this.size.workBytes >= bytes;
  }

  /** Fails a run with too large a history. One that compensates goes on, and its further outputs are not recorded. */
  #failIfHistoryIsFull(): void {
    if (this.ended !== undefined || this.state.ending !== undefined) return;
    if (this.size.historyBytes(this.history.length) > historyBytesMax) failRun(this, "failed", historyTooLarge());
  }

  #start(): void {
    const { nowMs } = this.context;
    this.state.startedAtMs = nowMs;
    this.state.deadlineMs = nowMs + this.plan.timeoutMs;
    const { replay } = this.state;
    if (replay === undefined) {
      this.history.push({ kind: "run_started" });
      startList(this, this.plan.root, []);
      return;
    }
    delete this.state.replay;
    this.history.push({ kind: "run_replayed", ...replay });
    // A run whose steps have all completed only lacks its output.
    if (this.stack.length === 0) completeRoot(this);
  }

  /** Processes due activities in the order of their times, each with its consequences. */
  #tick(): void {
    const { state } = this;
    const { nowMs } = this.context;
    if (state.startedAtMs === 0) {
      if (state.startAtMs === undefined || state.startAtMs <= nowMs) this.#start();
      return;
    }
    if (state.ending === undefined && state.deadlineMs <= nowMs) {
      const message = `The run took longer than ${this.plan.timeoutMs / 1000} seconds.`;
      failRun(this, "timed_out", runError("timeout", message));
      return;
    }
    // Work that did not fit into the last advance comes first.
    if (!this.#startSteps()) return;
    const due = Object.entries(state.active)
      .map(([key, activity]) => ({ key, activity, atMs: Math.min(activity.totalMs ?? never, activity.dueMs ?? never) }))
      .filter(({ atMs }) => atMs <= nowMs)
      .sort((a, b) => a.atMs - b.atMs);
    for (const { key, activity, atMs } of due) {
      // An earlier one may have ended this one.
      if (state.active[key] !== activity) continue;
      if (activity.totalMs === atMs) timeOutStep(this, key);
      else this.#continueStep(key, activity);
      if (!this.#startSteps()) return;
    }
  }

  #continueStep(key: StepKey, activity: Activity): void {
    switch (activity.s) {
      case "timer":
        completeStep(this, key, null);
        return;
      case "event":
      case "approval":
        timeOutWait(this, key, activity.s);
        return;
      case "effect":
        continueEffect(this, key, activity);
        return;
      default:
        return;
    }
  }

  #pause(by: string, reason: string): void {
    if (this.state.paused) return;
    this.state.paused = true;
    this.hold = true;
    this.history.push({ kind: "run_paused", by, reason });
  }

  #resume(by: string): void {
    const { state } = this;
    if (!state.paused) return;
    delete state.paused;
    this.hold = false;
    this.history.push({ kind: "run_resumed", by });
    // Waits that started before the pause come before those that start now.
    offerMail(this);
    this.#startSteps();
    const { pending = [] } = state;
    delete state.pending;
    for (const event of pending) this.apply(event);
    if (this.ended === undefined) this.#tick();
  }

  /** Keeps a decision until the run is resumed. */
  #keepDecision(event: RunEvent & { readonly kind: "decision" }): void {
    keepEvent(this.state, event);
    noteApproval(this, event.key);
  }

  #cancel({ by, reason, compensate }: RunEvent & { readonly kind: "cancel" }): void {
    const { state } = this;
    this.history.push({ kind: "run_cancelled", by, reason });
    // A run that already compensates can only be stopped from doing so.
    if (state.ending !== undefined && compensate) {
      this.#resume(by);
      return;
    }
    // All tasks end with the run, so none of them is held back any longer.
    delete state.paused;
    delete state.pending;
    const message = reason === "" ? `Cancelled by ${by}.` : `Cancelled by ${by}: ${reason}`;
    stopRun(this, "cancelled", runError("cancelled", message), compensate);
  }
}

/** Keeps an event until the run is resumed. */
function keepEvent(state: RunState, event: RunEvent): void {
  state.pending = [...(state.pending ?? []), event];
}

/** Keeps the outcome of an attempt until the run is resumed, unless the attempt has one already. */
function keepOutcome(state: RunState, event: RunEvent & { readonly key: StepKey; readonly attempt: number }): void {
  if (isAttemptOpen(state, event.key, event.attempt)) keepEvent(state, event);
}
