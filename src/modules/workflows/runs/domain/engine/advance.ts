import { CelError, type WorkMeter } from "../../../../../platform/cel/index.ts";
import type { Json } from "../../../definitions/index.ts";
import type { HistoryEntry } from "./history-entry.ts";
import type { ListOwner, Plan, PlanList, PlanStep, PlanUnit } from "./plan.ts";
import { readDuration, readScope, readTime } from "./readers.ts";
import { retryDelay } from "./retry-policy.ts";
import type { Activity, Decision, Failure, Mail, Pending, RunError, RunEvent, RunState } from "./state.ts";
import { type Positions, parseStepKey, type StepKey, stepKey } from "./step-key.ts";
import type { Template } from "./template.ts";

/** What an advance needs besides the plan and the state. */
export interface AdvanceContext {
  readonly nowMs: number;
  /** The variable `run`. */
  readonly run: Readonly<Record<string, unknown>>;
  /** The events that wait in the run's mailbox, in order of arrival. */
  readonly mail: readonly Mail[];
  readonly newId: () => string;
}

/** A task to create. */
export interface NewTask {
  readonly taskId: string;
  readonly key: StepKey;
  readonly queue: string;
  readonly type: string;
  readonly version: string;
  readonly input: Json;
  readonly attemptMs: number;
  readonly heartbeatMs: number;
}

/** An effect to perform after the commit. Performing it twice under the same key and attempt has no further effect. */
export interface Effect {
  readonly key: StepKey;
  readonly attempt: number;
  readonly kind: "route" | "notify" | "subworkflow";
  readonly request: Json;
  readonly childId: string | undefined;
}

/** The result of an advance. The state that was passed in has been changed. */
export interface Advanced {
  readonly state: RunState;
  readonly history: readonly HistoryEntry[];
  readonly newTasks: readonly NewTask[];
  readonly retriedTasks: readonly { readonly taskId: string; readonly attempt: number; readonly delayMs: number }[];
  /** Tasks whose step is over. */
  readonly endedTasks: readonly string[];
  readonly effects: readonly Effect[];
  readonly cancelledRuns: readonly string[];
  /** Events of the mailbox that were consumed, and by which step. */
  readonly consumed: readonly { readonly eventId: string; readonly key: StepKey }[];
  /** Whether tasks that nobody has leased are held back, or no longer held back. */
  readonly hold: boolean | undefined;
  readonly ended: RunEnd | undefined;
}

/** The end of a run. */
export interface RunEnd {
  readonly status: "succeeded" | "failed" | "cancelled" | "timed_out";
  readonly output: Json;
  readonly error: RunError | undefined;
}

const defaultAttemptMs = 5 * 60_000;
const waitMsMax = 365 * 86_400_000;
/** How long an open effect may take before it is performed again. */
const firstRecheckMs = 30_000;
const recheckMsMax = 3_600_000;
/** One advance does at most this much work, so that it never blocks other runs. The rest follows in the next advance. */
const startsMax = 1000;
const meterMax = 50_000;
const never = Number.POSITIVE_INFINITY;

/**
 * Advances one run. `apply` takes an event and executes what follows from it, as far as one advance may go. Pure apart from
 * changing `state`: time, ids and mail come in as arguments.
 */
export class Advance implements Advanced {
  readonly state: RunState;
  readonly history: HistoryEntry[] = [];
  readonly newTasks: NewTask[] = [];
  readonly retriedTasks: { taskId: string; attempt: number; delayMs: number }[] = [];
  readonly endedTasks: string[] = [];
  readonly effects: Effect[] = [];
  readonly cancelledRuns: string[] = [];
  readonly consumed: { eventId: string; key: StepKey }[] = [];
  hold: boolean | undefined;
  ended: RunEnd | undefined;
  readonly #plan: Plan;
  readonly #context: AdvanceContext;
  readonly #mail: Mail[];
  readonly #meter: WorkMeter = { steps: 0 };
  /** Steps to start and maps to continue, the next one last. */
  readonly #stack: Pending[];
  #starts = 0;

  constructor(plan: Plan, state: RunState, context: AdvanceContext) {
    this.#plan = plan;
    this.state = state;
    this.#context = context;
    this.#mail = [...context.mail];
    this.#stack = state.todo ?? [];
  }

  /** Applies an event, and starts the steps that follow from it. */
  apply(event: RunEvent): void {
    if (this.ended !== undefined) return;
    this.#applyOnly(event);
    this.#drain();
  }

  #applyOnly(event: RunEvent): void {
    const { state } = this;
    if (state.paused && !["resume", "cancel", "abort", "mail", "tick", "pause"].includes(event.kind)) {
      state.pending = [...(state.pending ?? []), event];
      return;
    }
    switch (event.kind) {
      case "start":
        this.#start();
        return;
      case "tick":
        if (!state.paused) this.#tick();
        return;
      case "attempt_succeeded":
      case "effect_succeeded":
        this.#succeed(event.key, event.attempt, event.output);
        return;
      case "attempt_failed":
      case "effect_failed":
        this.#fail(event.key, event.attempt, event);
        return;
      case "mail":
        this.#receive(event.mail);
        return;
      case "decision":
        this.#decide(event.key, event.decision);
        return;
      case "pause":
        this.#pause(event.by, event.reason);
        return;
      case "resume":
        this.#resume(event.by);
        return;
      case "cancel":
        this.#cancel(event.by, event.reason, event.compensate);
        return;
      case "abort":
        this.#endWith("failed", event.error, this.#plan.onFailure === "compensate");
        return;
    }
  }

  /** Starts steps, depth first, until none is left or the work of one advance is done. */
  #drain(): void {
    delete this.state.todo;
    while (this.#stack.length > 0 && this.ended === undefined) {
      if (this.state.paused || this.#starts++ >= startsMax || this.#meter.steps >= meterMax) {
        this.state.todo = this.#stack;
        return;
      }
      const next = this.#stack.pop()!;
      if ("map" in next) {
        this.#continueMap(next.map);
        continue;
      }
      if ("done" in next) {
        if (next.done in this.state.active) this.#completeUnit(next.done, next.output);
        continue;
      }
      const step = this.#plan.steps.get(next.id)!;
      // The block around it may have been cancelled meanwhile.
      if (this.#isOpen(step.list.owner, next.at)) this.#startStep(step, next.at);
    }
  }

  // Events

  #start(): void {
    const { nowMs } = this.#context;
    this.state.startedAtMs = nowMs;
    this.state.deadlineMs = nowMs + this.#plan.timeoutMs;
    const { replay } = this.state;
    if (replay === undefined) {
      this.history.push({ kind: "run_started" });
      this.#startList(this.#plan.root, []);
      return;
    }
    delete this.state.replay;
    this.history.push({ kind: "run_replayed", ...replay });
    // A run whose steps have all completed only lacks its output.
    if (this.#stack.length === 0) {
      const last = this.#plan.root.steps.at(-1);
      this.#completeList(this.#plan.root, [], (last && this.state.values[last.id]) ?? null);
    }
  }

  #tick(): void {
    const { state } = this;
    const { nowMs } = this.#context;
    if (state.startedAtMs === 0) {
      if (state.startAtMs === undefined || state.startAtMs <= nowMs) this.#start();
      return;
    }
    if (state.ending === undefined && state.deadlineMs <= nowMs) {
      const message = `The run took longer than ${this.#plan.timeoutMs / 1000} seconds.`;
      const error = { code: "timeout", message, step: "", details: null };
      this.#endWith("timed_out", error, this.#plan.onFailure === "compensate");
      return;
    }
    const due = Object.entries(state.active)
      .map(([key, activity]) => ({ key, activity, atMs: Math.min(activity.totalMs ?? never, activity.dueMs ?? never) }))
      .filter(({ atMs }) => atMs <= nowMs)
      .sort((a, b) => a.atMs - b.atMs);
    for (const { key, activity, atMs } of due) {
      // An earlier one may have ended this one.
      if (state.active[key] !== activity) continue;
      if (activity.totalMs === atMs) this.#timeOut(key);
      else this.#due(key, activity);
    }
  }

  #timeOut(key: StepKey): void {
    const error = this.#error(key, "timeout", "The step took longer than its total time-out.");
    this.#stop(key);
    this.#failUnit(key, error);
  }

  #due(key: StepKey, activity: Activity): void {
    switch (activity.s) {
      case "timer":
        this.#completeUnit(key, null);
        return;
      case "event":
      case "approval":
        this.#waitTimedOut(key, activity.s);
        return;
      case "effect":
        if (activity.phase === "backoff") {
          activity.phase = "open";
          activity.attempt++;
          activity.recheckMs = firstRecheckMs;
          if (activity.childId !== undefined) activity.childId = this.#context.newId();
        }
        this.#open(key, activity);
        return;
      default:
        return;
    }
  }

  #waitTimedOut(key: StepKey, kind: "event" | "approval"): void {
    const { step, positions } = this.#stepOf(key);
    const list = "onTimeout" in step.work ? step.work.onTimeout : undefined;
    if (list === undefined) {
      const code = kind === "event" ? "wait_timeout" : "approval_timeout";
      this.#failUnit(key, this.#error(key, code, `Nothing arrived before the time-out.`));
      return;
    }
    this.history.push({ kind: "wait_timed_out", step: key });
    this.state.active[key] = { s: "timeout", sinceMs: this.#context.nowMs };
    this.#startList(list, positions);
  }

  #succeed(key: StepKey, attempt: number, output: Json): void {
    const activity = this.state.active[key];
    if (activity === undefined || !("attempt" in activity) || activity.attempt !== attempt) return;
    this.#completeUnit(key, output);
  }

  #fail(key: StepKey, attempt: number, failure: Failure): void {
    const activity = this.state.active[key];
    if (activity === undefined || !("attempt" in activity) || activity.attempt !== attempt) return;
    const delayMs = retryDelay(this.#unitOf(key).retry, attempt, failure);
    const { code, message, details } = failure;
    if (delayMs === undefined) {
      this.#failUnit(key, this.#error(key, code, message, details));
      return;
    }
    this.history.push({
      kind: "attempt_failed",
      step: key,
      attempt,
      error: { code, message, details },
      delay_ms: delayMs,
    });
    if (activity.s === "task") {
      activity.attempt++;
      this.retriedTasks.push({ taskId: activity.taskId, attempt: activity.attempt, delayMs });
    } else if (activity.s === "effect") {
      activity.phase = "backoff";
      activity.dueMs = this.#context.nowMs + delayMs;
    }
  }

  #receive(mail: Mail): void {
    this.history.push({ kind: "event_received", event: mail.event, scope: mail.scope, event_id: mail.eventId });
    this.#mail.push(mail);
    if (this.state.paused) return;
    for (const [key, activity] of Object.entries(this.state.active)) {
      if (activity.s === "event" && this.#consume(key, activity.any)) return;
    }
  }

  /** Consumes the oldest mail that matches; whether there was one. */
  #consume(key: StepKey, any: readonly { readonly event: string; readonly scope: string }[]): boolean {
    const at = this.#mail.findIndex((mail) =>
      any.some(({ event, scope }) => event === mail.event && scope === mail.scope),
    );
    if (at < 0) return false;
    const [{ event, scope, payload, eventId }] = this.#mail.splice(at, 1) as [Mail];
    this.consumed.push({ eventId, key });
    this.#completeUnit(key, { event, scope, payload, event_id: eventId });
    return true;
  }

  #decide(key: StepKey, decision: Decision): void {
    const activity = this.state.active[key];
    if (activity?.s !== "approval") return;
    activity.decisions.push(decision);
    this.history.push({ kind: "approval_decided", step: key, ...decision });
    const { work } = this.#stepOf(key).step;
    if (!decision.approved) {
      const { by, comment } = decision;
      const message = comment === "" ? `${by} rejected it.` : `${by} rejected it: ${comment}`;
      const details = { decisions: activity.decisions as unknown as Json };
      this.#failUnit(key, this.#error(key, "approval_rejected", message, details));
      return;
    }
    if (work.kind === "approval" && activity.decisions.length >= work.quorum) {
      this.#completeUnit(key, { approved: true, decisions: activity.decisions as unknown as Json });
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
    const pending = state.pending ?? [];
    delete state.pending;
    for (const event of pending) this.#applyOnly(event);
    for (const [key, activity] of Object.entries(state.active)) {
      if (activity.s === "event") this.#consume(key, activity.any);
    }
    this.#tick();
  }

  #cancel(by: string, reason: string, compensate: boolean): void {
    if (this.state.paused) {
      delete this.state.paused;
      delete this.state.pending;
      this.hold = false;
    }
    this.history.push({ kind: "run_cancelled", by, reason });
    const message = reason === "" ? `Cancelled by ${by}.` : `Cancelled by ${by}: ${reason}`;
    this.#endWith("cancelled", { code: "cancelled", message, step: "", details: null }, compensate);
  }

  // Steps

  #startList(list: PlanList, at: Positions): void {
    const [first] = list.steps;
    if (first !== undefined) this.#stack.push({ id: first.id, at });
    else this.#completeList(list, at, null);
  }

  /** Whether the block that a list belongs to still runs this list. */
  #isOpen(owner: ListOwner, at: Positions): boolean {
    if (owner.kind === "run") return this.state.ending === undefined;
    const activity = this.state.active[stepKey(owner.step.id, at.slice(0, owner.step.depth))];
    return activity?.s === owner.kind;
  }

  #startStep(step: PlanStep, at: Positions): void {
    const key = stepKey(step.id, at);
    try {
      this.#begin(step, key, at);
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      this.state.active[key] ??= { s: "timer", sinceMs: this.#context.nowMs };
      this.#failUnit(key, this.#error(key, "expression_error", expressionMessage(error)));
    }
  }

  #begin(step: PlanStep, key: StepKey, at: Positions): void {
    const { nowMs } = this.#context;
    const { work } = step;
    const { active } = this.state;
    const times = {
      sinceMs: nowMs,
      ...(step.timeout.totalMs !== undefined && { totalMs: nowMs + step.timeout.totalMs }),
    };
    switch (work.kind) {
      case "transform": {
        const output = this.#evaluate(work.value, step, at);
        active[key] = { s: "timer", ...times };
        this.#completeUnit(key, output);
        return;
      }
      case "fail": {
        const message = this.#evaluate(work.message, step, at);
        active[key] = { s: "timer", ...times };
        this.#failUnit(
          key,
          this.#error(key, work.code, typeof message === "string" ? message : JSON.stringify(message)),
        );
        return;
      }
      case "branch": {
        for (const [position, { when, list }] of work.arms.entries()) {
          if (when !== undefined && !this.#isTrue(when, step, at)) continue;
          this.history.push({ kind: "branch_taken", step: key, arm: when === undefined ? "else" : String(position) });
          active[key] = { s: "arm", ...times };
          this.#startList(list, at);
          return;
        }
        active[key] = { s: "arm", ...times };
        this.#completeUnit(key, null);
        return;
      }
      case "parallel":
        active[key] = { s: "parallel", ...times, open: work.branches.size, results: {} };
        // The last one that is pushed starts first.
        for (const list of [...work.branches.values()].reverse()) this.#startList(list, at);
        return;
      case "map":
        this.#beginMap(step, key, at, times);
        return;
      case "wait_event": {
        const any = work.any.map(({ event, scope }) => ({ event, scope: readScope(this.#evaluate(scope, step, at)) }));
        active[key] = { s: "event", ...times, dueMs: nowMs + work.timeoutMs, any };
        this.history.push({ kind: "wait_started", step: key, any });
        this.#consume(key, any);
        return;
      }
      case "wait_timer": {
        const dueMs = this.#timerEnd(step, at);
        if (dueMs - nowMs > waitMsMax) throw new CelError("evaluation", "A timer may wait 365 days at most.");
        active[key] = { s: "timer", ...times, dueMs };
        if (dueMs <= nowMs) {
          this.#completeUnit(key, null);
          return;
        }
        this.history.push({ kind: "timer_started", step: key, until: new Date(dueMs).toISOString() });
        return;
      }
      case "approval": {
        const request = this.#evaluate(work.request, step, at);
        active[key] = { s: "approval", ...times, dueMs: nowMs + work.timeoutMs, request, decisions: [] };
        this.history.push({ kind: "approval_requested", step: key });
        return;
      }
      default:
        this.#launch(step, key, this.#evaluate(work.request, step, at));
        return;
    }
  }

  /** Starts a task or an effect. */
  #launch(unit: PlanUnit, key: StepKey, request: Json): void {
    const { nowMs, newId } = this.#context;
    const { work, timeout } = unit;
    const times = { sinceMs: nowMs, ...(timeout.totalMs !== undefined && { totalMs: nowMs + timeout.totalMs }) };
    this.history.push({ kind: "step_started", step: key });
    if (work.kind === "task") {
      const taskId = newId();
      this.state.active[key] = { s: "task", ...times, taskId, attempt: 1 };
      const { queue, type, version } = work;
      const { attemptMs = defaultAttemptMs, heartbeatMs = 0 } = timeout;
      this.newTasks.push({ taskId, key, queue, type, version, input: request, attemptMs, heartbeatMs });
      return;
    }
    const activity = {
      ...{ s: "effect" as const, ...times, request, attempt: 1, phase: "open" as const, recheckMs: firstRecheckMs },
      ...(work.kind === "subworkflow" && { childId: newId() }),
    };
    this.state.active[key] = activity;
    this.#open(key, activity);
  }

  /** Has an effect performed after the commit, and again later if its result does not arrive. */
  #open(key: StepKey, activity: Activity & { s: "effect" }): void {
    const { kind } = this.#unitOf(key).work;
    if (kind !== "route" && kind !== "notify" && kind !== "subworkflow") return;
    const { attempt, request, childId } = activity;
    activity.dueMs = this.#context.nowMs + activity.recheckMs;
    activity.recheckMs = Math.min(activity.recheckMs * 2, recheckMsMax);
    this.effects.push({ key, attempt, kind, request, childId });
  }

  #beginMap(step: PlanStep, key: StepKey, at: Positions, times: { readonly sinceMs: number }): void {
    const { work } = step;
    if (work.kind !== "map") return;
    const items = this.#evaluate(work.in, step, at);
    if (!Array.isArray(items)) throw new CelError("evaluation", "The elements of a map must be a list.");
    this.state.active[key] = { s: "map", ...times, items, next: 0, open: 0, results: [] };
    this.history.push({ kind: "map_started", step: key, items });
    if (items.length > work.maxItems) {
      const message = `The list has ${items.length} elements; max_items is ${work.maxItems}.`;
      this.#failUnit(key, this.#error(key, "map_too_large", message));
      return;
    }
    if (items.length === 0 || work.list.steps.length === 0) this.#completeUnit(key, Array(items.length).fill(null));
    else this.#stack.push({ map: key });
  }

  /** Starts the next element of a map, if another one may be in progress, or completes the map. */
  #continueMap(key: StepKey): void {
    const activity = this.state.active[key];
    const { step, positions } = this.#stepOf(key);
    if (step.work.kind !== "map" || activity?.s !== "map") return;
    if (activity.resume !== undefined && activity.open < step.work.maxParallel) {
      const element = activity.resume.shift();
      if (activity.resume.length === 0) delete activity.resume;
      activity.open++;
      this.#stack.push({ map: key }, ...(element ?? []));
    } else if (activity.next < activity.items.length && activity.open < step.work.maxParallel) {
      activity.open++;
      this.#stack.push({ map: key });
      this.#startList(step.work.list, [...positions, activity.next++]);
    } else if (activity.open === 0 && activity.next === activity.items.length) {
      this.#completeUnit(key, activity.results);
    }
  }

  #timerEnd(step: PlanStep, at: Positions): number {
    const { work } = step;
    const { nowMs } = this.#context;
    if (work.kind !== "wait_timer") return nowMs;
    if (work.forMs !== undefined) return nowMs + work.forMs;
    if (work.for !== undefined) return nowMs + readDuration(this.#evaluate(work.for, step, at));
    return readTime(this.#evaluate(work.until!, step, at));
  }

  #completeUnit(key: StepKey, output: Json): void {
    const activity = this.state.active[key];
    if (activity?.s === "task") this.endedTasks.push(activity.taskId);
    delete this.state.active[key];
    if (key.startsWith("~")) {
      this.history.push({ kind: "step_completed", step: key, output });
      this.#compensateNext();
      return;
    }
    const { step, positions } = this.#stepOf(key);
    this.state.values[key] = output;
    // A step whose error was caught has nothing to undo.
    const undo = activity?.s === "catch" ? undefined : step.compensate;
    const undoFailure = undo && this.#registerUndo(undo, step, key, positions);
    const request = undo && undoFailure === undefined ? this.state.undo.at(-1)!.request : undefined;
    this.history.push({
      ...{ kind: "step_completed", step: key, output },
      ...(request !== undefined && { undo: request }),
    });
    if (undoFailure !== undefined) {
      this.#failUnit(key, undoFailure);
      return;
    }
    const following = step.list.steps[step.position + 1];
    if (following !== undefined) this.#stack.push({ id: following.id, at: positions });
    else this.#completeList(step.list, positions, output);
  }

  /** Stores the compensation of a completed step. Returns an error if its request cannot be evaluated. */
  #registerUndo({ work }: PlanUnit, step: PlanStep, key: StepKey, at: Positions): RunError | undefined {
    if (!("request" in work)) return undefined;
    try {
      const request = this.#evaluate(work.request, step, at, step.id);
      this.state.undo.push({ key: `~${key}`, request });
      return undefined;
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      return this.#error(key, "expression_error", expressionMessage(error));
    }
  }

  #completeList(list: PlanList, at: Positions, output: Json): void {
    this.#forget(list, at);
    const { owner } = list;
    if (owner.kind === "run") {
      this.#succeedRun(output);
      return;
    }
    const { step } = owner;
    const outer = at.slice(0, step.depth);
    const key = stepKey(step.id, outer);
    if (owner.kind !== "parallel" && owner.kind !== "map") {
      this.#completeUnit(key, output);
      return;
    }
    this.#settleBranch(owner, step, key, at, { ok: true, value: output });
  }

  /** Records the result of a branch of a parallel or an element of a map. */
  #settleBranch(
    owner: ListOwner & { readonly kind: "parallel" | "map" },
    step: PlanStep,
    key: StepKey,
    at: Positions,
    result: { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly error: Json },
  ): void {
    const activity = this.state.active[key];
    const collect = "collect" in step.work && step.work.collect;
    const value: Json = collect ? result : result.ok ? result.value : null;
    if (owner.kind === "parallel" && activity?.s === "parallel") {
      activity.results[owner.name] = value;
      if (--activity.open > 0 || step.work.kind !== "parallel") return;
      // In the order of the definition, not of completion.
      const names = [...step.work.branches.keys()];
      this.#completeUnit(key, Object.fromEntries(names.map((name) => [name, activity.results[name]!])));
      return;
    }
    if (owner.kind === "map" && activity?.s === "map") {
      activity.results[at[step.depth]!] = value;
      activity.open--;
      this.#stack.push({ map: key });
    }
  }

  /** A step failed finally: its catch runs, or the block around it fails. */
  #failUnit(key: StepKey, error: RunError): void {
    const activity = this.state.active[key];
    if (activity?.s === "task") this.endedTasks.push(activity.taskId);
    delete this.state.active[key];
    const { code, message, details } = error;
    this.history.push({ kind: "step_failed", step: key, error: { code, message, details, step: error.step } });
    if (key.startsWith("~")) {
      this.state.ending!.failures.push(error);
      this.#compensateNext();
      return;
    }
    const { step, positions } = this.#stepOf(key);
    // An error in the steps of a catch is not caught by the same step.
    const caught = activity?.s === "catch" ? undefined : step.catches.find(({ on }) => on.has(code) || on.has("*"));
    if (caught !== undefined) {
      this.state.active[key] = { s: "catch", sinceMs: this.#context.nowMs, err: error };
      this.#startList(caught.list, positions);
      return;
    }
    this.#failList(step.list, positions, error);
  }

  #failList(list: PlanList, at: Positions, error: RunError): void {
    this.#forget(list, at);
    const { owner } = list;
    if (owner.kind === "run") {
      this.#endWith("failed", error, this.#plan.onFailure === "compensate");
      return;
    }
    const { step } = owner;
    const outer = at.slice(0, step.depth);
    const key = stepKey(step.id, outer);
    if (owner.kind === "parallel" || owner.kind === "map") {
      const { code, message } = error;
      if ("collect" in step.work && step.work.collect) {
        this.#settleBranch(owner, step, key, at, { ok: false, error: { code, message } });
        return;
      }
      this.#stopInside(step, outer);
    }
    this.#failUnit(key, error);
  }

  // Ends

  #succeedRun(lastOutput: Json): void {
    const { output: template } = this.#plan;
    let output = lastOutput;
    if (template !== undefined) {
      try {
        output = template.evaluate(this.#values(template, undefined, []), this.#meter);
      } catch (error) {
        if (!(error instanceof CelError)) throw error;
        const failure = { code: "expression_error", message: expressionMessage(error), step: "", details: null };
        this.#endWith("failed", failure, this.#plan.onFailure === "compensate");
        return;
      }
    }
    this.#end({ status: "succeeded", output, error: undefined });
  }

  #endWith(status: "failed" | "cancelled" | "timed_out", error: RunError, compensate: boolean): void {
    const { state } = this;
    // A run that already compensates can only be stopped from doing so.
    if (state.ending !== undefined && compensate) return;
    for (const key of Object.keys(state.active)) this.#drop(key);
    this.#stack.length = 0;
    const failures = state.ending?.failures ?? [];
    state.ending = { status, error, failures };
    if (!compensate) state.undo.length = 0;
    this.#compensateNext();
  }

  /** Starts the compensation of the step that completed last, or ends the run. */
  #compensateNext(): void {
    const { state } = this;
    const undo = state.undo.pop();
    if (undo !== undefined) {
      this.#launch(this.#unitOf(undo.key), undo.key, undo.request);
      return;
    }
    const { status, error, failures } = state.ending!;
    const details =
      failures.length === 0
        ? error.details
        : { cause: error.details, failed_compensations: failures as unknown as Json };
    this.#end({ status, output: null, error: { ...error, details } });
  }

  #end(end: RunEnd): void {
    this.ended = end;
    const { status, error } = end;
    this.history.push({ kind: "run_ended", status, ...(error !== undefined && { error }) });
  }

  // Helpers

  /** Cancels what a step has in progress, except for the step itself. */
  #stop(key: StepKey): void {
    const { step, positions } = key.startsWith("~") ? { step: undefined, positions: [] } : this.#stepOf(key);
    const activity = this.state.active[key];
    if (activity?.s === "effect" && activity.childId !== undefined) this.cancelledRuns.push(activity.childId);
    if (step !== undefined) this.#stopInside(step, positions);
  }

  /** Cancels everything inside a block. */
  #stopInside(block: PlanStep, at: Positions): void {
    const isInside = (key: StepKey) => {
      if (key.startsWith("~")) return false;
      const { step, positions } = this.#stepOf(key);
      return step.ancestors.includes(block) && at.every((position, nth) => positions[nth] === position);
    };
    for (const key of Object.keys(this.state.active)) if (isInside(key)) this.#drop(key);
    for (const key of Object.keys(this.state.values)) if (isInside(key)) delete this.state.values[key];
  }

  #drop(key: StepKey): void {
    const activity = this.state.active[key];
    if (activity?.s === "task") this.endedTasks.push(activity.taskId);
    if (activity?.s === "effect" && activity.childId !== undefined) this.cancelledRuns.push(activity.childId);
    delete this.state.active[key];
    this.history.push({ kind: "step_cancelled", step: key });
  }

  /** Deletes the outputs of a list that is over: nothing outside of it may read them. */
  #forget(list: PlanList, at: Positions): void {
    if (list.owner.kind === "run") return;
    for (const { id } of list.steps) delete this.state.values[stepKey(id, at)];
  }

  #unitOf(key: StepKey): PlanUnit {
    return key.startsWith("~") ? this.#stepOf(key.slice(1)).step.compensate! : this.#stepOf(key).step;
  }

  #stepOf(key: StepKey): { readonly step: PlanStep; readonly positions: Positions } {
    const { id, positions } = parseStepKey(key);
    return { step: this.#plan.steps.get(id)!, positions };
  }

  #error(key: StepKey, code: string, message: string, details: Json = null): RunError {
    return { code, message, step: parseStepKey(key.replace("~", "")).id, details };
  }

  #isTrue(when: Template, step: PlanStep, at: Positions): boolean {
    const result = this.#evaluate(when, step, at);
    if (typeof result !== "boolean")
      throw new CelError("evaluation", "The condition of a branch must be true or false.");
    return result;
  }

  #evaluate(template: Template, step: PlanStep, at: Positions, own?: string): Json {
    return template.evaluate(this.#values(template, step, at, own), this.#meter);
  }

  /** The values of the variables that a template reads. */
  #values(template: Template, step: PlanStep | undefined, at: Positions, own?: string): Record<string, unknown> {
    const steps: Record<string, Json> = {};
    const values: Record<string, unknown> & { err?: unknown } = {
      input: this.state.input,
      run: this.#context.run,
      steps,
    };
    for (const id of template.reads) {
      const target = this.#plan.steps.get(id);
      if (target === undefined) continue;
      const key = stepKey(id, at.slice(0, target.depth));
      if (key in this.state.values && (id !== step?.id || id === own)) steps[id] = this.state.values[key]!;
    }
    if (step !== undefined && template.variables.includes("err")) values.err = this.#errorAround(step, at);
    if (step !== undefined && (template.variables.includes("item") || template.variables.includes("index"))) {
      const map = step.ancestors.findLast(({ work }) => work.kind === "map");
      const activity = map && this.state.active[stepKey(map.id, at.slice(0, map.depth))];
      const index = map && at[map.depth];
      if (activity?.s === "map" && index !== undefined) Object.assign(values, { item: activity.items[index], index });
    }
    return values;
  }

  /** The error that the innermost catch around a step handles. */
  #errorAround(step: PlanStep, at: Positions): unknown {
    for (let { owner } = step.list; owner.kind !== "run"; owner = owner.step.list.owner) {
      if (owner.kind !== "catch") continue;
      const activity = this.state.active[stepKey(owner.step.id, at.slice(0, owner.step.depth))];
      if (activity?.s === "catch") return activity.err;
    }
    return undefined;
  }
}

function expressionMessage(error: CelError): string {
  const { position } = error;
  return position === undefined ? error.message : `line ${position.line}, column ${position.column}: ${error.message}`;
}
