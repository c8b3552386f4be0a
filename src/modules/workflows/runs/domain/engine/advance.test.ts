import assert from "node:assert/strict";
import { test } from "node:test";
import {
  compensation,
  define,
  fails,
  routeWork,
  step,
  task,
  timer,
  transform,
} from "../../../../../../test/workflows/definition-builders.ts";
import { type Definition, defaultRetry, type Json } from "../../../definitions/index.ts";
import { planOf, simulateRun } from "../replay/testing/simulated-run.ts";
import { Advance } from "./advance.ts";
import type { AdvanceBudget } from "./execution.ts";
import { createPlan, type Plan } from "./plan.ts";
import { createRunState, isAttemptOpen, type Mail, type RunEvent, type RunState, statusOf, wakeTime } from "./state.ts";

const startMs = Date.UTC(2026, 0, 1);
const pause: RunEvent = { kind: "pause", by: "ann", reason: "" };
const resume: RunEvent = { kind: "resume", by: "ann" };
const tick: RunEvent = { kind: "tick" };
const cancel = (compensate: boolean): RunEvent => ({ kind: "cancel", by: "ann", reason: "", compensate });
const succeeded = (key: string, output: Json = null, attempt = 1): RunEvent => ({
  kind: "attempt_succeeded",
  key,
  attempt,
  output,
});
const failed = (key: string, attempt = 1): RunEvent => ({
  ...{ kind: "attempt_failed", key, attempt, code: "worker_lost", message: "lost", details: null, retryable: true },
});
const mail = (eventId: string, event = "go", scope = ""): RunEvent => ({
  kind: "mail",
  mail: { eventId, event, scope, payload: null },
});
const ample: AdvanceBudget = { starts: 1000, expressionSteps: 1000, bytes: 1_000_000 };
const once = { maxAttempts: 1, initialMs: 1, factor: 1, maxMs: 1, on: undefined };

/** A run whose state is stored as JSON after every advance. */
class StoredRun {
  readonly #plan: Plan;
  readonly #budget: AdvanceBudget | undefined;
  #stateJson: string;
  #mail: Mail[] = [];
  #ids = 0;
  nowMs = startMs;
  readonly kinds: string[] = [];
  last: Advance;

  constructor(definition: Definition, budget?: AdvanceBudget, startAtMs?: number) {
    this.#plan = createPlan(definition, "definition", 1, defaultRetry);
    this.#budget = budget;
    this.#stateJson = JSON.stringify(createRunState(null, startAtMs));
    this.last = this.apply(startAtMs === undefined ? { kind: "start" } : tick);
  }

  get state(): RunState {
    return JSON.parse(this.#stateJson) as RunState;
  }

  get wakeMs(): number | undefined {
    const wakeMs = wakeTime(this.state, this.nowMs);
    return wakeMs === undefined ? undefined : wakeMs - startMs;
  }

  apply(...events: readonly RunEvent[]): Advance {
    const advance = new Advance(this.#plan, this.state, {
      ...{ nowMs: this.nowMs, run: {}, mail: this.#mail, newId: () => `id${++this.#ids}` },
      ...(this.#budget !== undefined && { budget: this.#budget }),
    });
    for (const event of events) {
      if (event.kind === "mail") this.#mail.push(event.mail);
      advance.apply(event);
    }
    const consumed = advance.consumed.map(({ eventId }) => eventId);
    this.#mail = this.#mail.filter(({ eventId }) => !consumed.includes(eventId));
    this.#stateJson = JSON.stringify(advance.state);
    for (const entry of advance.history) this.kinds.push("step" in entry ? `${entry.kind} ${entry.step}` : entry.kind);
    this.last = advance;
    return advance;
  }

  /** Applies events at a time after the start. */
  at(ms: number, ...events: readonly RunEvent[]): Advance {
    this.nowMs = startMs + ms;
    return this.apply(...events);
  }
}

const parallel = (branches: Readonly<Record<string, ReturnType<typeof step>[]>>) =>
  ({
    kind: "parallel",
    branches: Object.entries(branches).map(([name, steps]) => ({ name, steps })),
    onError: "fail",
  }) as const;
const wait = (id: string, ...events: readonly string[]) =>
  step(id, {
    kind: "wait_event",
    any: events.map((event) => ({ event, scope: "" })),
    timeoutMs: 60_000,
    onTimeout: undefined,
  });
const approval = (id: string, quorum: number) =>
  step(id, {
    ...{ kind: "approval", by: ["role:operator"], quorum, timeoutMs: 60_000, onTimeout: undefined },
    ...{ title: "", details: null, commentRequired: false },
  });

test("a paused run keeps results and events, and applies them in order when it is resumed", () => {
  const run = new StoredRun(
    define([step("p", parallel({ a: [task("a1"), task("a2")], b: [wait("b1", "go"), transform("b2", 1)] }))]),
  );
  assert.equal(run.apply(pause).hold, true);
  assert.equal(statusOf(run.state), "paused");
  assert.equal(run.wakeMs, undefined);
  run.apply(succeeded("a1", "done"));
  run.apply(mail("e1"));
  assert.deepEqual([run.last.newTasks.length, run.last.consumed.length], [0, 0]);
  const resumed = run.apply(resume);
  assert.equal(resumed.hold, false);
  assert.deepEqual(run.kinds.slice(-6), [
    "event_received",
    "run_resumed",
    "step_completed b1",
    "step_completed b2",
    "step_completed a1",
    "step_started a2",
  ]);
  assert.deepEqual(resumed.consumed, [{ eventId: "e1", key: "b1" }]);
  assert.deepEqual(resumed.endedTasks, ["id1"]);
});

test("of several outcomes of one attempt that arrive while a run is paused, the first one counts", () => {
  const run = new StoredRun(define([task("a")]));
  run.apply(pause);
  assert.equal(isAttemptOpen(run.state, "a", 1), true);
  run.apply(succeeded("a", "first"));
  assert.equal(isAttemptOpen(run.state, "a", 1), false);
  for (let sweep = 0; sweep < 3; sweep++) run.apply(failed("a"));
  run.apply(succeeded("a", "second"));
  assert.equal(run.state.pending?.length, 1);
  assert.equal(run.apply(resume).ended?.output, "first");
});

test("a person who decides twice while a run is paused counts once", () => {
  const decision = (by: string): RunEvent => ({
    kind: "decision",
    key: "ok",
    decision: { by, approved: true, comment: "", at: "2026-01-01T00:00:00Z" },
  });
  const run = new StoredRun(define([approval("ok", 2)]));
  run.apply(pause);
  run.apply(decision("ann"));
  run.apply(decision("ann"));
  assert.equal(run.apply(resume).ended, undefined);
  assert.equal(run.apply(decision("bob")).ended?.status, "succeeded");
});

test("a step that an earlier event of the pause has cancelled consumes nothing", () => {
  // The compensation of the first wait cannot be evaluated, so the first event fails the block around both.
  const first = { ...wait("b1", "go"), compensate: compensation("=input.missing") };
  const run = new StoredRun(define([step("p", parallel({ a: [first], b: [wait("b2", "go")] }))]));
  run.apply(pause);
  run.apply(mail("e1"), mail("e2"));
  const resumed = run.apply(resume);
  assert.deepEqual(resumed.consumed, [{ eventId: "e1", key: "b1" }]);
  assert.deepEqual([resumed.ended?.status, resumed.ended?.error?.code], ["failed", "expression_error"]);
  assert.equal(run.kinds.includes("step_completed b2"), false);
});

test("time-outs that pass while a run is paused take effect when it is resumed", () => {
  const run = new StoredRun(define([task("a", { timeout: { totalMs: 1000 }, retry: once })], { timeoutMs: 10_000 }));
  run.apply(pause);
  assert.equal(run.at(2000, tick).history.length, 0);
  const resumed = run.at(3000, resume);
  assert.deepEqual([resumed.ended?.error?.code, resumed.endedTasks], ["timeout", ["id1"]]);

  const late = new StoredRun(define([task("a")], { timeoutMs: 10_000 }));
  late.apply(pause);
  assert.equal(late.at(20_000, resume).ended?.status, "timed_out");
});

test("pausing keeps steps that did not fit into the last advance until the run is resumed", () => {
  const run = new StoredRun(define([transform("a", 1), transform("b", 2)]), { ...ample, starts: 1 });
  run.apply(pause);
  assert.deepEqual(run.state.todo, [{ id: "b", at: [] }]);
  run.apply(tick);
  assert.deepEqual(run.state.todo, [{ id: "b", at: [] }]);
  assert.equal(run.apply(resume).ended?.output, 2);
});

test("what does not fit into one advance follows in the next ones, and is executed once", () => {
  const map = step("m", {
    ...{ kind: "map", in: Array.from({ length: 50 }, (_, nth) => nth), maxItems: 100, maxParallel: 10 },
    ...{ onError: "fail", steps: [transform("x", "=item"), transform("y", "=steps.x * 2")] },
  });
  const run = new StoredRun(define([map]), { ...ample, starts: 7 });
  let advances = 1;
  while (run.last.ended === undefined) {
    assert.equal(run.wakeMs, 0);
    assert.equal(statusOf(run.state), "running");
    // Elements that are done leave nothing behind.
    assert.ok(run.state.todo!.length <= 2, `${run.state.todo!.length} entries`);
    run.apply(tick);
    advances++;
  }
  assert.deepEqual(
    run.last.ended.output,
    Array.from({ length: 50 }, (_, nth) => 2 * nth),
  );
  assert.ok(advances > 15);
  assert.equal(run.kinds.filter((kind) => kind.startsWith("step_completed")).length, 101);
});

test("a wait takes the event that was received first of those that match", () => {
  const run = new StoredRun(define([task("a"), wait("w", "go", "stop")]));
  run.apply(mail("e1", "other"));
  run.apply(mail("e2", "stop"));
  run.apply(mail("e3", "go"));
  assert.deepEqual(run.apply(succeeded("a")).consumed, [{ eventId: "e2", key: "w" }]);
});

test("an event that arrives while steps are left over is applied before they start", () => {
  const branches = { a: [wait("a1", "go"), transform("a2", 0)], b: [transform("b1", 0)] };
  const run = new StoredRun(define([wait("first", "go"), step("p", parallel(branches))]), {
    ...ample,
    starts: 2,
  });
  run.apply(mail("e1"));
  assert.deepEqual(run.state.todo, [{ id: "b1", at: [] }]);
  run.apply(mail("e2"));
  while (run.last.ended === undefined) run.apply(tick);
  const completed = run.kinds.filter((kind) => kind.startsWith("step_completed"));
  assert.deepEqual(
    completed,
    ["first", "a1", "a2", "b1", "p"].map((id) => `step_completed ${id}`),
  );
});

test("a late tick does what was due in the order of its times, each with what follows from it", () => {
  const branches = { a: [timer("a1", 2000), transform("a2", 0)], b: [timer("b1", 1000), transform("b2", 0)] };
  const run = new StoredRun(define([step("p", parallel(branches))]));
  assert.equal(run.wakeMs, 1000);
  assert.equal(run.at(500, tick).history.length, 0);
  run.at(60_000, tick);
  assert.deepEqual(run.kinds.slice(-6, -2), [
    "step_completed b1",
    "step_completed b2",
    "step_completed a1",
    "step_completed a2",
  ]);
});

test("a late tick after the deadline ends the run, whatever else was due", () => {
  const run = new StoredRun(define([timer("a", 1000)], { timeoutMs: 5000 }));
  const { ended } = run.at(6000, tick);
  assert.deepEqual([ended?.status, ended?.error?.code, ended?.error?.step], ["timed_out", "timeout", ""]);
});

test("a run that starts later does nothing before its time", () => {
  const run = new StoredRun(define([transform("a", 1)]), undefined, startMs + 1000);
  assert.deepEqual([statusOf(run.state), run.wakeMs, run.kinds.length], ["pending", 1000, 0]);
  assert.equal(run.at(1000, tick).ended?.output, 1);
});

test("a time-out of the run compensates if failures do, and does not limit the compensations", () => {
  const steps = [task("a", { compensate: compensation("undo a") }), task("b")];
  const run = new StoredRun(define(steps, { timeoutMs: 5000, onFailure: "compensate" }));
  run.apply(succeeded("a"));
  const timedOut = run.at(5000, tick);
  assert.deepEqual([timedOut.ended, timedOut.newTasks.map(({ key }) => key)], [undefined, ["~a"]]);
  assert.equal(run.wakeMs, undefined);
  assert.equal(run.at(90_000, succeeded("~a")).ended?.status, "timed_out");
});

test("a cancelled run compensates only if the cancellation says so", () => {
  const start = () => {
    const run = new StoredRun(define([task("a", { compensate: compensation("undo a") }), task("b")]));
    run.apply(succeeded("a"));
    return run;
  };
  const without = start().apply(cancel(false));
  assert.deepEqual([without.ended?.status, without.newTasks.length, without.endedTasks], ["cancelled", 0, ["id2"]]);
  const run = start();
  const compensating = run.apply(cancel(true));
  assert.deepEqual([compensating.ended, compensating.endedTasks], [undefined, ["id2"]]);
  // A late result of a cancelled step changes nothing.
  assert.equal(run.apply(succeeded("b")).history.length, 0);
  const { ended } = run.apply(succeeded("~a"));
  assert.deepEqual([ended?.status, ended?.error?.code], ["cancelled", "cancelled"]);
});

test("a run that compensates ignores a cancellation with compensation, and stops at one without", () => {
  const start = () => {
    const undo = compensation("undo", { retry: once });
    const steps = [task("a", { compensate: undo }), task("b", { compensate: undo }), fails("c", "broken")];
    const run = new StoredRun(define(steps, { onFailure: "compensate" }));
    run.apply(succeeded("a"));
    run.apply(succeeded("b"));
    run.apply(failed("~b"));
    return run;
  };
  const ignoring = start();
  assert.equal(ignoring.apply(cancel(true)).ended, undefined);
  const { ended } = ignoring.apply(succeeded("~a"));
  assert.deepEqual([ended?.status, ended?.error?.code], ["failed", "broken"]);
  const details = ended?.error?.details as { failed_compensations: { step: string }[] };
  assert.deepEqual(
    details.failed_compensations.map((failure) => failure.step),
    ["b"],
  );
  const stopped = start().apply(cancel(false));
  assert.deepEqual([stopped.ended?.status, stopped.endedTasks], ["cancelled", ["id4"]]);
});

test("a retried compensation repeats its last attempt, whose effect is unknown, and is retried as often as at first", () => {
  const twice = { ...once, maxAttempts: 2 };
  const undo = compensation(null, { work: { ...routeWork(), payload: null }, retry: twice });
  const run = new StoredRun(
    define([task("a", { compensate: undo }), fails("b", "broken")], { onFailure: "compensate" }),
  );
  const attempts = () => run.last.effects.map(({ attempt }) => attempt);
  const refuse = (attempt: number, code = "no") =>
    run.apply({
      ...{ kind: "effect_failed", key: "~a", attempt, code, message: "", details: null, retryable: true },
    });
  const retry: RunEvent = { kind: "retry_compensations", by: "ann", reason: "", steps: ["a"] };
  run.apply(succeeded("a"));
  assert.deepEqual(attempts(), [1]);
  refuse(1);
  run.at(run.wakeMs!, tick);
  assert.equal(refuse(2).ended?.status, "failed");
  run.apply(retry);
  assert.deepEqual(attempts(), [2], "its idempotency key is that of the attempt that may have taken effect");
  refuse(1);
  assert.equal(isAttemptOpen(run.state, "~a", 2), true, "a late result of an earlier attempt is none of the retry");
  assert.equal(refuse(2).ended, undefined);
  run.at(run.wakeMs!, tick);
  assert.deepEqual(attempts(), [3]);
  assert.equal(refuse(3).ended?.status, "failed");
  run.apply(retry);
  assert.deepEqual(attempts(), [3]);
  assert.equal(refuse(3, "route_rejected").ended?.status, "failed");
  run.apply(retry);
  assert.deepEqual(attempts(), [4], "a refusal had no effect");
});

test("a cancellation with compensation resumes a paused run that compensates, with the results it has", () => {
  const steps = [task("a", { compensate: compensation("undo") }), fails("b", "broken")];
  const run = new StoredRun(define(steps, { onFailure: "compensate" }));
  run.apply(succeeded("a"));
  run.apply(pause);
  run.apply(succeeded("~a"));
  assert.deepEqual([run.apply(cancel(true)).ended?.status, run.last.hold], ["failed", false]);
});

test("a cancelled run that was paused ends its held tasks instead of releasing them", () => {
  const run = new StoredRun(define([task("a")]));
  run.apply(pause);
  const cancelled = run.apply(cancel(false));
  assert.deepEqual([cancelled.hold, cancelled.endedTasks], [undefined, ["id1"]]);
});

test("a run that holds too much fails with compensation, and one that compensates already just ends", () => {
  const abort: RunEvent = {
    kind: "abort",
    error: { code: "state_too_large", message: "too large", step: "", details: null },
  };
  const steps = [task("a", { compensate: compensation("undo") }), task("b")];
  const run = new StoredRun(define(steps, { onFailure: "compensate" }));
  run.apply(succeeded("a"));
  assert.deepEqual(
    run.apply(abort).newTasks.map(({ key }) => key),
    ["~a"],
  );
  const { ended } = run.apply(abort);
  assert.deepEqual([ended?.status, ended?.error?.code], ["failed", "state_too_large"]);
});

test("an effect without a result is performed again after growing waits, and its next attempt is another child run", () => {
  const child = step(
    "c",
    { kind: "subworkflow", key: "other", version: undefined, input: null },
    { retry: { maxAttempts: 2, initialMs: 500, factor: 1, maxMs: 500, on: undefined } },
  );
  const run = new StoredRun(define([child]));
  const [first] = run.last.effects;
  assert.deepEqual([first!.childId, run.wakeMs], ["id1", 5000]);
  assert.deepEqual(run.at(5000, tick).effects, [first]);
  assert.equal(run.wakeMs, 15_000);
  const failure: RunEvent = {
    ...{ kind: "effect_failed", key: "c", attempt: 1, code: "subworkflow_failed", message: "", details: null },
    retryable: true,
  };
  run.at(40_000, failure);
  // The same result again must not move the next attempt.
  run.at(40_400, failure);
  assert.equal(run.wakeMs, 40_500);
  assert.deepEqual(
    run.at(40_500, tick).effects.map(({ attempt, childId }) => [attempt, childId]),
    [[2, "id2"]],
  );
  assert.deepEqual(run.apply(cancel(false)).cancelledRuns, ["id2"]);
});

test("the catch of a map is outside of the map: item and index are those of the map around it", () => {
  const inner = step(
    "inner",
    { kind: "map", in: "=[item]", maxItems: 5, maxParallel: 1, onError: "fail", steps: [fails("x", "broken")] },
    { catch: [{ on: ["*"], steps: [transform("caught", "=[item, index]")] }] },
  );
  const outer = { kind: "map", in: ["p", "q"], maxItems: 5, maxParallel: 1, onError: "fail", steps: [inner] } as const;
  assert.deepEqual(new StoredRun(define([step("outer", outer)])).last.ended?.output, [
    ["p", 0],
    ["q", 1],
  ]);
});

test("a step whose compensation cannot be evaluated has not completed", () => {
  const steps = [task("a", { compensate: compensation("=input.missing") })];
  const run = new StoredRun(define(steps, { onFailure: "compensate" }));
  const { code, message } = run.apply(succeeded("a")).ended!.error!;
  assert.deepEqual([code, message], ["expression_error", "input.missing, line 1, column 7: A null has no fields."]);
  assert.equal(run.kinds.includes("step_completed a"), false);
});

test("a map of lists without steps gives null for each element, marked if errors are collected", () => {
  const map = { kind: "map", in: [1, 2], maxItems: 5, maxParallel: 1, steps: [] } as const;
  const outputOf = (onError: "fail" | "collect") =>
    new StoredRun(define([step("m", { ...map, onError })])).last.ended?.output;
  assert.deepEqual(outputOf("fail"), [null, null]);
  assert.deepEqual(outputOf("collect"), [
    { ok: true, value: null },
    { ok: true, value: null },
  ]);
});

test("a timer ends at a whole millisecond, and a time without a zone is refused", () => {
  const timerOf = (times: { readonly for?: string; readonly until?: string }) =>
    new StoredRun(
      define([step("t", { kind: "wait_timer", forMs: undefined, for: undefined, until: undefined, ...times })]),
    );
  assert.equal(timerOf({ for: "=0.0016" }).wakeMs, 2);
  assert.equal(timerOf({ until: "2026-01-01T00:00:05+00:00" }).wakeMs, 5000);
  for (const until of ["2026-01-01T00:00:05", "2026-01-01T", "2026-01-01", "tomorrow"]) {
    assert.equal(timerOf({ until }).last.ended?.error?.code, "expression_error", until);
  }
});

test("what the input schema declares as an integer is computed as an int, and a number as a double, also in maps", () => {
  const line = { type: "object", properties: { price: { type: "number" }, count: { type: "integer" } } };
  const inputSchema = { type: "object", properties: { ...line.properties, lines: { type: "array", items: line } } };
  const halves = (of: string) => [`=${of}.price / 2`, `=${of}.count / 2`, `=${of}.other / 2`];
  const each = step("each", {
    ...{ kind: "map", in: "=input.lines", maxItems: 10, maxParallel: 10, onError: "fail" },
    steps: [transform("half", halves("item"))],
  });
  const times = step("times", {
    ...{ kind: "map", in: "=[timestamp('2026-01-01T00:00:00Z')]", maxItems: 10, maxParallel: 10, onError: "fail" },
    steps: [transform("text", "=item + '!'")],
  });
  const definition = define([task("a", { with: halves("input") }), transform("kept", "=input.count"), each, times], {
    inputSchema,
    output: ["=steps.each", "=steps.kept / 2", "=steps.times"],
  });
  const numbers = { price: 99, count: 99, other: 99 };
  const { requests, output } = simulateRun(planOf(definition), { input: { ...numbers, lines: [numbers] } });
  assert.deepEqual(requests, { a: [49.5, 49, 49.5] });
  // The output of a step has no schema, so it is not truncated.
  assert.deepEqual(output, [[[49.5, 49, 49.5]], 49.5, ["2026-01-01T00:00:00.000Z!"]]);
});
