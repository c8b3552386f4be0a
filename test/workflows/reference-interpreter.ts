import {
  type ApprovalWork,
  type Compensation,
  type Definition,
  defaultRetry,
  type Json,
  type JsonObject,
  type MapWork,
  type ParallelWork,
  type Retryable,
  type RetryPolicy,
  type Step,
  type StreamAppendWork,
  type StreamReadWork,
  type WaitEventWork,
  type WaitTimerWork,
} from "../../src/modules/workflows/definitions/domain/language/definition.ts";
import type { Decision, Script, ScriptedEvent } from "./reference-script.ts";
import {
  durationMs,
  ExpressionError,
  evaluateExpression,
  evaluateTemplate,
  scopeText,
  untilMs,
  type Variables,
} from "./reference-templates.ts";
import { type Process, Scope, start, VirtualClock, wait } from "./virtual-clock.ts";

/** Work that is attempted outside of the run. */
type EffectWork = Compensation["work"] | StreamAppendWork | StreamReadWork;

/** What the language says about one run of a definition. */
export interface RunResult {
  readonly status: "succeeded" | "failed" | "cancelled" | "timed_out";
  /** Null unless the run succeeded. */
  readonly output: Json;
  /** Undefined if the run succeeded. The messages of the service's own codes are not defined. */
  readonly error: RunError | undefined;
  /** When the run ended, after its compensations. */
  readonly endedAtMs: number;
  /**
   * The completed steps in the order of their completion. Steps that complete in the same millisecond are in the order
   * of a depth-first execution in document order: each branch runs as far as it can before the next one starts.
   */
  readonly completed: readonly { readonly stepKey: string; readonly atMs: number }[];
  readonly outputs: ReadonlyMap<string, Json>;
  /** The inputs of tasks and other runs, by step key. Compensations have a key with `~`. */
  readonly inputs: ReadonlyMap<string, Json>;
  /** The compensations in the order in which they ran, with the code of those that failed. */
  readonly compensations: readonly { readonly stepKey: string; readonly errorCode: string | undefined }[];
  /**
   * Whether two independent things happened in the same millisecond. The language does not say which is first, so another
   * implementation may have another result.
   */
  readonly hadTie: boolean;
}

export interface RunError {
  readonly code: string;
  readonly message: string;
  /** The id of the step that failed; empty if no step did. */
  readonly step: string;
  readonly details: Json;
}

/** The failure of a step. */
class StepFailure extends Error {
  readonly error: RunError;
  readonly isRetryable: boolean;

  constructor(error: RunError, isRetryable = true) {
    super(error.code);
    this.error = error;
    this.isRetryable = isRetryable;
  }
}

/** Where a step runs. */
interface Frame extends Pick<Variables, "steps" | "item" | "index" | "err"> {
  readonly scope: Scope;
  /** The positions in the maps around it. */
  readonly positions: readonly number[];
}

/** A compensation whose templates have been evaluated. */
interface PreparedCompensation {
  readonly stepKey: string;
  readonly stepId: string;
  readonly compensation: Compensation;
  readonly input: Json;
}

const attemptMsDefault = 5 * 60_000;
const neverRetried = new Set(["expression_error", "state_too_large", "timeout", "outcome_unknown"]);
const notRetriedByDefault = new Set(["route_rejected"]);

/** Runs a definition to its end on a virtual clock. */
export function interpret(definition: Definition, script: Script): RunResult {
  return new Interpreter(definition, script).run();
}

class Interpreter {
  readonly #definition: Definition;
  readonly #script: Script;
  readonly #clock = new VirtualClock();
  readonly #runVariable: Readonly<Record<string, unknown>>;
  readonly #completed: { stepKey: string; atMs: number }[] = [];
  readonly #outputs = new Map<string, Json>();
  readonly #inputs = new Map<string, Json>();
  readonly #prepared: PreparedCompensation[] = [];
  readonly #compensations: { stepKey: string; errorCode: string | undefined }[] = [];
  /** Events that no wait has consumed, in the order of arrival. */
  readonly #mailbox: ScriptedEvent[] = [];
  /** Waits for events, in the order in which they started. */
  readonly #waits: { scope: Scope; offer(event: ScriptedEvent): boolean }[] = [];

  constructor(definition: Definition, script: Script) {
    this.#definition = definition;
    this.#script = script;
    this.#runVariable = { ...script.run, started_at: new Date(script.startedAtMs) };
  }

  run(): RunResult {
    const { timeoutMs, onFailure } = this.#definition;
    const { events, cancel } = this.#script;
    const root = new Scope();
    let result: Pick<RunResult, "status" | "output" | "error"> | undefined;
    const end = (status: RunResult["status"], output: Json, error: RunError | undefined, compensate: boolean) => {
      root.cancel();
      result = { status, output, error };
      if (compensate) start(this.#compensate(), new Scope(), () => {}, rethrow);
    };
    const compensates = onFailure === "compensate";

    for (const event of events) this.#clock.at(event.atMs, root, () => this.#receive(event), true);
    if (cancel !== undefined)
      this.#clock.at(cancel.atMs, root, () => end("cancelled", null, runError("cancelled"), cancel.compensate));
    this.#clock.at(timeoutMs, root, () => end("timed_out", null, runError("timeout"), compensates));
    start(
      this.#runDefinition(root),
      root,
      (output) => end("succeeded", output, undefined, false),
      (error) => end("failed", null, failureOf(error).error, compensates),
    );
    this.#clock.run();
    return {
      ...result!,
      endedAtMs: this.#clock.nowMs,
      completed: this.#completed,
      outputs: this.#outputs,
      inputs: this.#inputs,
      compensations: this.#compensations,
      hadTie: this.#clock.hadTie,
    };
  }

  *#runDefinition(scope: Scope): Process<Json> {
    const { steps, output } = this.#definition;
    const frame: Frame = { scope, positions: [], steps: {} };
    const { last, visible } = yield* this.#runSteps(steps, frame);
    return output === undefined ? last : this.#evaluate(output, { ...frame, steps: visible }, "");
  }

  /** Runs the steps of a list; returns its output. */
  *#runList(steps: readonly Step[], frame: Frame): Process<Json> {
    return (yield* this.#runSteps(steps, frame)).last;
  }

  *#runSteps(steps: readonly Step[], frame: Frame): Process<{ last: Json; visible: JsonObject }> {
    let last: Json = null;
    let visible = frame.steps;
    for (const step of steps) {
      last = yield* this.#runStep(step, { ...frame, steps: visible });
      visible = { ...visible, [step.id]: last };
    }
    return { last, visible };
  }

  *#runStep(step: Step, frame: Frame): Process<Json> {
    const stepKey = keyOf(step.id, frame);
    let output: Json;
    let prepared: PreparedCompensation | undefined;
    try {
      output = yield* this.#runWork(step, frame);
      prepared = this.#prepareCompensation(step, { ...frame, steps: { ...frame.steps, [step.id]: output } });
    } catch (thrown) {
      const { error } = failureOf(thrown);
      const handler = step.catch.find(({ on }) => on.includes(error.code) || on.includes("*"));
      if (handler === undefined) throw thrown;
      // A step whose own work failed has nothing to undo.
      prepared = undefined;
      output = yield* this.#runList(handler.steps, { ...frame, err: { ...error } });
    }
    this.#completed.push({ stepKey, atMs: this.#clock.nowMs });
    this.#outputs.set(stepKey, output);
    if (prepared !== undefined) this.#prepared.push(prepared);
    return output;
  }

  *#runWork(step: Step, frame: Frame): Process<Json> {
    const { work } = step;
    switch (work.kind) {
      case "task":
      case "route":
      case "notify":
      case "action":
      case "subworkflow":
      case "stream_append":
      case "stream_read": {
        const input = this.#inputOf(work, frame, step.id);
        return yield* this.#runAttempts(step, work.kind, keyOf(step.id, frame), step.id, input, frame.scope);
      }
      case "branch": {
        for (const { when, steps } of work.arms) {
          if (this.#evaluateCondition(when, frame, step.id)) return yield* this.#runList(steps, frame);
        }
        return work.otherwise === undefined ? null : yield* this.#runList(work.otherwise, frame);
      }
      case "parallel":
        return yield* this.#runParallel(work, frame);
      case "map":
        return yield* this.#runMap(step, work, frame);
      case "wait_event":
        return yield* this.#waitForEvent(step, work, frame);
      case "wait_timer":
        yield* this.#sleep(this.#timerMs(step, work, frame), frame.scope);
        return null;
      case "approval":
        return yield* this.#waitForApproval(step, work, frame);
      case "transform":
        return this.#evaluate(work.value, frame, step.id);
      case "fail": {
        const message = this.#evaluate(work.message, frame, step.id);
        throw failure(work.code, step.id, typeof message === "string" ? message : JSON.stringify(message));
      }
      default:
        throw new Error(`A step of kind ${work.kind} cannot be published.`);
    }
  }

  // Attempts

  #inputOf(work: EffectWork, frame: Frame, stepId: string): Json {
    const evaluate = (template: Json | undefined) =>
      template === undefined ? null : this.#evaluate(template, frame, stepId);
    switch (work.kind) {
      case "task":
        return evaluate(work.with);
      case "subworkflow":
        return evaluate(work.input);
      case "action":
        return [work.connection, work.with].map(evaluate);
      case "stream_append":
        return evaluate(work.value);
      case "stream_read":
        return evaluate(work.cursor);
      case "notify":
        return [work.to, work.channels, work.payload].map(evaluate);
      case "route":
        return [work.type, work.key, work.attributes, work.requirements, work.payload, work.priority].map(evaluate);
    }
  }

  /** Attempts external work until it succeeds or fails finally. */
  *#runAttempts(
    { retry, timeout }: Retryable,
    kind: EffectWork["kind"],
    stepKey: string,
    stepId: string,
    input: Json,
    scope: Scope,
  ): Process<Json> {
    if (kind === "task" || kind === "subworkflow") this.#inputs.set(stepKey, input);
    const policy: RetryPolicy | undefined =
      retry ?? (kind === "subworkflow" ? undefined : (this.#definition.retry ?? defaultRetry));
    const attemptMs = timeout.attemptMs ?? (kind === "task" ? attemptMsDefault : Number.POSITIVE_INFINITY);
    const attempts = (inner: Scope) => this.#attemptUntilFinal(policy, attemptMs, stepKey, stepId, inner);
    const { totalMs } = timeout;
    if (totalMs === undefined) return yield* attempts(scope);
    const inner = new Scope(scope);
    return yield* settled<Json>((resolve, reject) => {
      const finish =
        <T>(report: (value: T) => void) =>
        (value: T) => {
          inner.cancel();
          report(value);
        };
      this.#clock.at(this.#clock.nowMs + totalMs, inner, () => finish(reject)(failure("timeout", stepId)));
      start(attempts(inner), inner, finish(resolve), finish(reject));
    });
  }

  *#attemptUntilFinal(
    policy: RetryPolicy | undefined,
    attemptMs: number,
    stepKey: string,
    stepId: string,
    scope: Scope,
  ): Process<Json> {
    for (let attempt = 1; ; attempt++) {
      try {
        return yield* this.#attemptOnce(attempt, attemptMs, stepKey, stepId, scope);
      } catch (thrown) {
        const { error, isRetryable } = failureOf(thrown);
        if (policy === undefined || attempt >= policy.maxAttempts) throw thrown;
        if (!isRetryable || neverRetried.has(error.code)) throw thrown;
        if (policy.on === undefined ? notRetriedByDefault.has(error.code) : !policy.on.includes(error.code))
          throw thrown;
      }
      const waitMs = Math.min(policy.initialMs * policy.factor ** (attempt - 1), policy.maxMs);
      yield* this.#sleep(Math.round(waitMs), scope);
    }
  }

  *#attemptOnce(attempt: number, attemptMs: number, stepKey: string, stepId: string, scope: Scope): Process<Json> {
    const scripted = this.#script.attempt(stepKey, attempt);
    yield* this.#sleep(scripted?.queuedMs ?? 0, scope);
    if (scripted === undefined || scripted.afterMs >= attemptMs) {
      yield* this.#sleep(attemptMs, scope);
      throw failure("attempt_timeout", stepId);
    }
    yield* this.#sleep(scripted.afterMs, scope);
    if ("output" in scripted) return scripted.output;
    const code = scripted.code === "" ? "task_failed" : scripted.code;
    throw failure(code, stepId, scripted.message, scripted.details, scripted.retryable);
  }

  // Blocks

  *#runParallel({ branches, onError }: ParallelWork, frame: Frame): Process<Json> {
    const outputs = yield* this.#runConcurrently(
      branches.map(
        ({ steps }) =>
          (scope: Scope) =>
            this.#runList(steps, { ...frame, scope }),
      ),
      { limit: branches.length, onError, scope: frame.scope },
    );
    return Object.fromEntries(branches.map(({ name }, at) => [name, outputs[at]!]));
  }

  *#runMap(step: Step, work: MapWork, frame: Frame): Process<Json> {
    const list = this.#evaluate(work.in, frame, step.id);
    if (!Array.isArray(list)) throw failure("expression_error", step.id);
    const elements = list as readonly Json[];
    if (elements.length > work.maxItems) throw failure("map_too_large", step.id);
    return yield* this.#runConcurrently(
      elements.map((item, index) => (scope: Scope) => {
        const positions = [...frame.positions, index];
        return this.#runList(work.steps, { ...frame, scope, positions, item, index });
      }),
      { limit: work.maxParallel, onError: work.onError, scope: frame.scope },
    );
  }

  /** Runs lists at the same time, a limited number of them; returns their outputs. They start in order. */
  *#runConcurrently(
    lists: readonly ((scope: Scope) => Process<Json>)[],
    { limit, onError, scope }: { limit: number; onError: "fail" | "collect"; scope: Scope },
  ): Process<Json[]> {
    const outputs: Json[] = [];
    let started = 0;
    let running = 0;
    if (lists.length === 0) return outputs;
    const inner = new Scope(scope);
    return yield* settled<Json[]>((resolve, reject) => {
      const finishOne = (at: number, output: Json) => {
        outputs[at] = output;
        running--;
        if (started === lists.length && running === 0) resolve(outputs);
        else startMore();
      };
      const startMore = () => {
        while (started < lists.length && running < limit && !inner.isCancelled) {
          const at = started++;
          running++;
          start(
            lists[at]!(inner),
            inner,
            (value) => finishOne(at, onError === "collect" ? { ok: true, value } : value),
            (thrown) => {
              const { code, message } = failureOf(thrown).error;
              if (onError === "collect") return finishOne(at, { ok: false, error: { code, message } });
              inner.cancel();
              reject(thrown);
            },
          );
        }
      };
      startMore();
    });
  }

  // Waits

  *#sleep(ms: number, scope: Scope): Process<void> {
    if (ms > 0) yield* wait<void>((resume) => this.#clock.at(this.#clock.nowMs + ms, scope, () => resume()));
  }

  #timerMs(step: Step, work: WaitTimerWork, frame: Frame): number {
    if (work.forMs !== undefined) return work.forMs;
    const nowMs = this.#script.startedAtMs + this.#clock.nowMs;
    return this.#guarded(step.id, () => {
      if (work.until === undefined) return durationMs(this.#evaluateText(work.for!, frame));
      return untilMs(this.#evaluateText(work.until, frame), nowMs);
    });
  }

  *#waitForEvent(step: Step, work: WaitEventWork, frame: Frame): Process<Json> {
    const wanted = work.any.map(({ event, scope }) => ({
      event,
      scope: this.#guarded(step.id, () => scopeText(this.#evaluate(scope, frame, step.id))),
    }));
    const matches = ({ event, scope }: ScriptedEvent) =>
      wanted.some((entry) => entry.event === event && entry.scope === scope);
    const inner = new Scope(frame.scope);
    const event = yield* wait<ScriptedEvent | undefined>((resume) => {
      const finish = (result: ScriptedEvent | undefined) => {
        inner.cancel();
        resume(result);
      };
      const earlier = this.#mailbox.findIndex(matches);
      if (earlier >= 0) return finish(this.#mailbox.splice(earlier, 1)[0]);
      const offer = (offered: ScriptedEvent) => {
        const isTaken = matches(offered);
        if (isTaken) finish(offered);
        return isTaken;
      };
      this.#waits.push({ scope: inner, offer });
      this.#clock.at(this.#clock.nowMs + work.timeoutMs, inner, () => finish(undefined));
    });
    if (event !== undefined) {
      return { event: event.event, scope: event.scope, payload: event.payload, event_id: event.eventId };
    }
    if (work.onTimeout === undefined) throw failure("wait_timeout", step.id);
    return yield* this.#runList(work.onTimeout, frame);
  }

  /** Gives an event to the wait that started first of those that match, or keeps it. */
  #receive(event: ScriptedEvent): void {
    for (const { scope, offer } of [...this.#waits]) if (!scope.isCancelled && offer(event)) return;
    this.#mailbox.push(event);
  }

  *#waitForApproval(step: Step, work: ApprovalWork, frame: Frame): Process<Json> {
    for (const template of [work.title, work.details]) this.#evaluate(template, frame, step.id);
    const accepted: (JsonObject & { by: string })[] = [];
    const inner = new Scope(frame.scope);
    const result = yield* wait<"approved" | "rejected" | "timeout">((resume) => {
      const finish = (outcome: "approved" | "rejected" | "timeout") => {
        inner.cancel();
        resume(outcome);
      };
      const startMs = this.#clock.nowMs;
      for (const decision of this.#script.decisions(keyOf(step.id, frame))) {
        this.#clock.at(startMs + decision.afterMs, inner, () => {
          const { user, approved, comment } = decision;
          if (!mayDecide(work, decision) || accepted.some(({ by }) => by === user)) return;
          const at = new Date(this.#script.startedAtMs + this.#clock.nowMs).toISOString();
          accepted.push({ by: user, approved, comment, at });
          if (!approved) finish("rejected");
          else if (accepted.length === work.quorum) finish("approved");
        });
      }
      this.#clock.at(startMs + work.timeoutMs, inner, () => finish("timeout"));
    });
    if (result === "approved") return { approved: true, decisions: accepted };
    if (result === "rejected") throw failure("approval_rejected", step.id);
    if (work.onTimeout === undefined) throw failure("approval_timeout", step.id);
    return yield* this.#runList(work.onTimeout, frame);
  }

  // Compensation

  #prepareCompensation(step: Step, frame: Frame): PreparedCompensation | undefined {
    const { compensate } = step;
    if (compensate === undefined) return undefined;
    const input = this.#inputOf(compensate.work, frame, step.id);
    return { stepKey: `~${keyOf(step.id, frame)}`, stepId: step.id, compensation: compensate, input };
  }

  /** Runs the compensations of the completed steps, last completed first. */
  *#compensate(): Process<void> {
    const scope = new Scope();
    for (const { stepKey, stepId, compensation, input } of this.#prepared.toReversed()) {
      let errorCode: string | undefined;
      try {
        yield* this.#runAttempts(compensation, compensation.work.kind, stepKey, stepId, input, scope);
      } catch (thrown) {
        errorCode = failureOf(thrown).error.code;
      }
      this.#compensations.push({ stepKey, errorCode });
    }
  }

  // Expressions

  #variables({ steps, item, index, err }: Frame): Variables {
    return {
      input: this.#script.input,
      run: this.#runVariable,
      steps,
      ...(item !== undefined && { item }),
      ...(index !== undefined && { index }),
      ...(err !== undefined && { err }),
    };
  }

  #evaluate(template: Json, frame: Frame, stepId: string): Json {
    return this.#guarded(stepId, () => evaluateTemplate(template, this.#variables(frame)));
  }

  /** Evaluates a text that may be an expression; a timestamp stays one. */
  #evaluateText(text: string, frame: Frame): unknown {
    const isExpression = text.startsWith("=") && !text.startsWith("==");
    return isExpression ? evaluateExpression(text, this.#variables(frame)) : text;
  }

  #evaluateCondition(when: string, frame: Frame, stepId: string): boolean {
    const result = this.#evaluate(when, frame, stepId);
    if (typeof result !== "boolean") throw failure("expression_error", stepId);
    return result;
  }

  /** Turns a failed evaluation into the failure of a step. */
  #guarded<T>(stepId: string, evaluate: () => T): T {
    try {
      return evaluate();
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      throw failure("expression_error", stepId, error.message);
    }
  }
}

/** Waits for a result or an error. */
function* settled<T>(subscribe: (resolve: (value: T) => void, reject: (error: unknown) => void) => void): Process<T> {
  const outcome = yield* wait<{ value: T } | { error: unknown }>((resume) =>
    subscribe(
      (value) => resume({ value }),
      (error) => resume({ error }),
    ),
  );
  if ("error" in outcome) throw outcome.error;
  return outcome.value;
}

function mayDecide({ by, commentRequired }: ApprovalWork, { user, roles, comment }: Decision): boolean {
  if (commentRequired && comment === "") return false;
  return by.includes(`user:${user}`) || roles.some((role) => by.includes(`role:${role}`));
}

function keyOf(stepId: string, { positions }: Frame): string {
  return positions.length === 0 ? stepId : `${stepId}[${positions.join(",")}]`;
}

function failure(code: string, step: string, message = code, details: Json = null, isRetryable = true): StepFailure {
  return new StepFailure({ code, message, step, details }, isRetryable);
}

/** An error of the run itself. */
function runError(code: string): RunError {
  return { code, message: code, step: "", details: null };
}

function failureOf(error: unknown): StepFailure {
  if (error instanceof StepFailure) return error;
  throw error;
}

function rethrow(error: unknown): never {
  throw error;
}
