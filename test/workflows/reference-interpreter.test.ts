import assert from "node:assert/strict";
import { test } from "node:test";
import type {
  BranchWork,
  Json,
  MapWork,
  RetryPolicy,
  Step,
  WaitEventWork,
} from "../../src/modules/workflows/definitions/domain/language/definition.ts";
import { fc } from "../harness/random.ts";
import { sized } from "../harness/run-size.ts";
import {
  compensation,
  define,
  fails,
  routeWork,
  scriptOf,
  step,
  task,
  taskWork,
  timer,
  transform,
} from "./definition-builders.ts";
import { scenarios } from "./random-definitions.ts";
import { interpret, type RunResult } from "./reference-interpreter.ts";
import type { Decision, ScriptedEvent } from "./reference-script.ts";

const minuteMs = 60_000;
const policy: RetryPolicy = { maxAttempts: 5, initialMs: 1000, factor: 2, maxMs: minuteMs, on: undefined };

const keysOf = (result: RunResult) => result.completed.map(({ stepKey }) => stepKey);
const branch = (arms: BranchWork["arms"], otherwise?: readonly Step[]): BranchWork => ({
  kind: "branch",
  arms,
  otherwise,
});
const parallel = (branches: Record<string, readonly Step[]>, onError: "fail" | "collect" = "fail") =>
  ({
    kind: "parallel",
    branches: Object.entries(branches).map(([name, steps]) => ({ name, steps })),
    onError,
  }) as const;
const map = (input: Json, steps: readonly Step[], options: Partial<MapWork> = {}): MapWork => ({
  kind: "map",
  in: input,
  maxItems: 100,
  maxParallel: 10,
  onError: "fail",
  steps,
  ...options,
});
const waitFor = (any: WaitEventWork["any"], timeoutMs = minuteMs, onTimeout?: readonly Step[]): WaitEventWork => ({
  kind: "wait_event",
  any,
  timeoutMs,
  onTimeout,
});
const sent = (atMs: number, event: string, scope = "", eventId = `e${atMs}`): ScriptedEvent => ({
  atMs,
  event,
  scope,
  payload: { atMs },
  eventId,
});

/** The output of one transform. */
function evaluate(value: Json, input: Json = null): Json {
  const result = interpret(define([transform("a", value)]), scriptOf({}, { input }));
  assert.equal(result.status, "succeeded", result.error?.message);
  return result.output;
}

test("the steps of a list run one after another, and the last output is the output of the run", () => {
  const result = interpret(define([task("a"), task("b")]), scriptOf({ a: [{ afterMs: 10, output: 1 }] }));
  assert.deepEqual(result.completed, [
    { stepKey: "a", atMs: 10 },
    { stepKey: "b", atMs: 1010 },
  ]);
  assert.deepEqual([result.status, result.output, result.endedAtMs], ["succeeded", "b", 1010]);
});

test("the output template sees the steps of the top list", () => {
  const steps = [transform("a", 1), transform("b", 2)];
  assert.deepEqual(interpret(define(steps, { output: { sum: "=steps.a + steps.b" } }), scriptOf()).output, { sum: 3 });
  const failed = interpret(define(steps, { output: "=steps.a.nothing" }), scriptOf());
  assert.deepEqual([failed.status, failed.error?.code, failed.error?.step], ["failed", "expression_error", ""]);
});

test("a template replaces expressions, unescapes a leading ==, and keeps everything else", () => {
  const template = {
    sum: "=1 + 2",
    escaped: "==1 + 2",
    plain: "a = b",
    deep: [null, true, { n: "=input.n" }],
    five: 5,
  };
  assert.deepEqual(evaluate(template, { n: 7 }), {
    sum: 3,
    escaped: "=1 + 2",
    plain: "a = b",
    deep: [null, true, { n: 7 }],
    five: 5,
  });
  assert.equal(evaluate("=run.started_at"), "2026-01-01T00:00:00.000Z");
  assert.equal(evaluate("=run.key + run.environment"), "klive");
});

test("an expression that cannot be evaluated fails its step, and is not retried", () => {
  const result = interpret(define([task("a", { with: "=input.missing", retry: policy })]), scriptOf({}, { input: {} }));
  assert.deepEqual([result.status, result.error?.code, result.error?.step], ["failed", "expression_error", "a"]);
  assert.equal(result.endedAtMs, 0);
});

test("a step sees earlier steps of its list and of the lists around it", () => {
  const inner = step(
    "in",
    branch([{ when: "=true", steps: [transform("x", 2), transform("y", "=steps.a + steps.x")] }]),
  );
  assert.equal(interpret(define([transform("a", 1), inner]), scriptOf()).output, 3);
});

test("a task gets its evaluated input and gives the worker's result", () => {
  const result = interpret(
    define([task("a", { with: { id: "=input.id" } })]),
    scriptOf({ a: [{ afterMs: 5, output: { value: 9 } }] }, { input: { id: "i" } }),
  );
  assert.deepEqual([result.output, result.inputs.get("a")], [{ value: 9 }, { id: "i" }]);
});

test("an attempt may take five minutes by default, or as long as the step says", () => {
  const once = { ...policy, maxAttempts: 1 };
  const never = scriptOf({ a: [{ afterMs: 86_400_000, output: 1 }] });
  const standard = interpret(define([task("a", { retry: once })]), never);
  assert.deepEqual([standard.error?.code, standard.endedAtMs], ["attempt_timeout", 5 * minuteMs]);
  const own = interpret(define([task("a", { retry: once, timeout: { attemptMs: 30_000 } })]), never);
  assert.deepEqual([own.error?.code, own.endedAtMs], ["attempt_timeout", 30_000]);
  const queued = scriptOf({ a: [{ queuedMs: 40_000, afterMs: 20_000, output: 1 }] });
  assert.equal(interpret(define([task("a", { timeout: { attemptMs: 30_000 } })]), queued).endedAtMs, 60_000);
});

test("a task without heartbeats or with a lost worker fails with that code, and is retried", () => {
  for (const code of ["heartbeat_timeout", "worker_lost"]) {
    const script = scriptOf({
      a: [
        { afterMs: 10, code },
        { afterMs: 10, output: "second" },
      ],
    });
    const result = interpret(define([task("a")]), script);
    assert.deepEqual([result.output, result.endedAtMs], ["second", 1020]);
    const once = interpret(define([task("a", { retry: { ...policy, maxAttempts: 1 } })]), script);
    assert.equal(once.error?.code, code);
  }
});

test("all attempts and the waits between them may take the total time; then the step fails without a retry", () => {
  const script = scriptOf({ a: [{ afterMs: 400, code: "" }] });
  const whileWaiting = interpret(define([task("a", { retry: policy, timeout: { totalMs: 2000 } })]), script);
  assert.deepEqual([whileWaiting.error?.code, whileWaiting.endedAtMs], ["timeout", 2000]);
  const whileWorking = interpret(define([task("a", { retry: policy, timeout: { totalMs: 300 } })]), script);
  assert.deepEqual([whileWorking.error?.code, whileWorking.endedAtMs], ["timeout", 300]);
  const inTime = interpret(
    define([task("a", { retry: { ...policy, maxAttempts: 2 }, timeout: { totalMs: 2000 } })]),
    script,
  );
  assert.deepEqual([inTime.error?.code, inTime.endedAtMs], ["task_failed", 1800]);
});

test("the wait after attempt n is initial × factor^(n-1), at most max", () => {
  const script = scriptOf({ a: [{ afterMs: 1, code: "" }] });
  const waits = { ...policy, initialMs: 100, factor: 3, maxMs: 500 };
  assert.equal(interpret(define([task("a", { retry: waits })]), script).endedAtMs, 5 + 100 + 300 + 500 + 500);
});

test("the policy of a step comes first, then that of the definition, then three attempts with one and two seconds", () => {
  const script = scriptOf({ a: [{ afterMs: 1, code: "" }] });
  assert.equal(interpret(define([task("a")]), script).endedAtMs, 3 + 1000 + 2000);
  const retry = { ...policy, maxAttempts: 2, initialMs: 10 };
  assert.equal(interpret(define([task("a")], { retry }), script).endedAtMs, 2 + 10);
  assert.equal(
    interpret(define([task("a", { retry: { ...retry, initialMs: 20 } })], { retry }), script).endedAtMs,
    2 + 20,
  );
});

test("failures that a worker calls not retryable and rejected items are not retried", () => {
  const final = scriptOf({ a: [{ afterMs: 7, code: "quota", retryable: false, message: "m", details: { n: 1 } }] });
  const failed = interpret(define([step("a", taskWork(null, ["quota"]))]), final);
  assert.deepEqual(failed.error, { code: "quota", message: "m", step: "a", details: { n: 1 } });
  assert.equal(failed.endedAtMs, 7);
  const rejected = scriptOf({ a: [{ afterMs: 7, code: "route_rejected" }] });
  assert.equal(interpret(define([step("a", routeWork())]), rejected).endedAtMs, 7);
  const listed = { ...policy, maxAttempts: 2, on: ["route_rejected"] };
  assert.equal(interpret(define([step("a", routeWork(), { retry: listed })]), rejected).endedAtMs, 1014);
});

test("with `on`, only the listed codes are retried", () => {
  const retry = { ...policy, on: ["busy"] };
  const script = scriptOf({
    a: [
      { afterMs: 1, code: "busy" },
      { afterMs: 1, code: "quota" },
    ],
  });
  const result = interpret(define([step("a", taskWork(null, ["busy", "quota"]), { retry })]), script);
  assert.deepEqual([result.error?.code, result.endedAtMs], ["quota", 1002]);
});

test("route, notify, action and subworkflow give their results and fail with their codes; a subworkflow has no default retries", () => {
  const works = [
    { work: routeWork(), code: "pool_not_found", endMs: 3003 },
    {
      work: { kind: "notify", workflowKey: "w", to: "ann", channels: undefined, payload: undefined },
      code: "notify_failed",
      endMs: 3003,
    },
    {
      work: { kind: "action", action: "github.issue.create", connection: "c", with: { title: "t" } },
      code: "unavailable",
      endMs: 3003,
    },
    {
      work: { kind: "subworkflow", key: "other", version: undefined, input: { a: 1 } },
      code: "subworkflow_failed",
      endMs: 1,
    },
  ] as const;
  for (const { work, code, endMs } of works) {
    assert.equal(interpret(define([step("a", work)]), scriptOf()).output, "a");
    const failing = scriptOf({ a: [{ afterMs: 1, code }] });
    const failed = interpret(define([step("a", work)]), failing);
    assert.deepEqual([failed.error?.code, failed.endedAtMs], [code, endMs]);
    const retried = interpret(define([step("a", work, { retry: { ...policy, maxAttempts: 2 } })]), failing);
    assert.equal(retried.endedAtMs, 1002);
  }
  const other = interpret(
    define([step("a", works[3].work)], { retry: policy }),
    scriptOf({ a: [{ afterMs: 1, code: "subworkflow_failed" }] }),
  );
  assert.equal(other.endedAtMs, 1);
});

test("a branch runs the first arm whose condition is true, or else, or nothing", () => {
  const arms = [
    { when: "=input > 10", steps: [transform("big", "big")] },
    { when: "=input > 5", steps: [transform("medium", "medium")] },
  ];
  const run = (input: number, otherwise?: readonly Step[]) =>
    interpret(define([step("pick", branch(arms, otherwise))]), scriptOf({}, { input })).output;
  assert.deepEqual(
    [run(11), run(6), run(1), run(1, [transform("small", "small")]), run(1, [])],
    ["big", "medium", null, "small", null],
  );
  const late = [...arms.slice(0, 1), { when: "=input", steps: [] }];
  const result = interpret(define([step("pick", branch(late))]), scriptOf({}, { input: 3 }));
  assert.deepEqual([result.error?.code, result.error?.step], ["expression_error", "pick"]);
  assert.equal(interpret(define([step("pick", branch(late))]), scriptOf({}, { input: 30 })).output, "big");
});

test("parallel branches run at the same time and give an object", () => {
  const result = interpret(
    define([step("p", parallel({ legal: [task("l")], credit: [task("c"), timer("t", 5)] }))]),
    scriptOf(),
  );
  assert.deepEqual([result.output, result.endedAtMs], [{ legal: "l", credit: null }, 1005]);
});

test("a failed branch cancels the others, and the step fails with its error", () => {
  const work = parallel({
    a: [timer("slow", 500), transform("never", 1)],
    b: [timer("soon", 100), fails("boom", "stopped")],
  });
  const result = interpret(define([step("p", work)]), scriptOf());
  assert.deepEqual([result.error?.code, result.error?.step, result.endedAtMs], ["stopped", "boom", 100]);
  assert.deepEqual(keysOf(result), ["soon"]);
});

test("with collect all branches run to their end", () => {
  const work = parallel({ a: [timer("slow", 500), transform("x", 1)], b: [fails("boom", "stopped")] }, "collect");
  const result = interpret(define([step("p", work)]), scriptOf());
  assert.deepEqual(result.output, {
    a: { ok: true, value: 1 },
    b: { ok: false, error: { code: "stopped", message: "failed at boom" } },
  });
  assert.equal(result.endedAtMs, 500);
});

test("a map runs its steps for each element, with its item and index, and names them by position", () => {
  const result = interpret(
    define([step("m", map("=input", [transform("x", ["=item", "=index"])]))]),
    scriptOf({}, { input: ["a", "b"] }),
  );
  assert.deepEqual(result.output, [
    ["a", 0],
    ["b", 1],
  ]);
  assert.deepEqual(keysOf(result), ["x[0]", "x[1]", "m"]);
  assert.deepEqual(evaluateMap([]), []);
});

/** The output of a map over a list. */
function evaluateMap(input: Json): Json {
  return interpret(define([step("m", map("=input", [transform("x", "=item")]))]), scriptOf({}, { input })).output;
}

test("nested maps see their own item and index", () => {
  const inner = step("inner", map("=item", [transform("x", "=string(item) + string(index)")]));
  const result = interpret(define([step("outer", map([[5], [6, 7]], [inner]))]), scriptOf());
  assert.deepEqual(result.output, [["50"], ["60", "71"]]);
  assert.equal(result.outputs.get("x[1,1]"), "71");
});

test("a map that is too large or not a list fails", () => {
  const run = (input: Json) =>
    interpret(define([step("m", map("=input", [transform("x", 1)], { maxItems: 2 }))]), scriptOf({}, { input })).error
      ?.code;
  assert.deepEqual(
    [run([1, 2]), run([1, 2, 3]), run({}), run("ab")],
    [undefined, "map_too_large", "expression_error", "expression_error"],
  );
});

test("at most max_parallel elements are in progress, in order", () => {
  const attempts = Object.fromEntries([30, 10, 10, 10].map((afterMs, at) => [`t[${at}]`, [{ afterMs, output: at }]]));
  const result = interpret(define([step("m", map([0, 0, 0, 0], [task("t")], { maxParallel: 2 }))]), scriptOf(attempts));
  assert.deepEqual(result.output, [0, 1, 2, 3]);
  assert.deepEqual(
    result.completed.map(({ stepKey, atMs }) => [stepKey, atMs]),
    [
      ["t[1]", 10],
      ["t[2]", 20],
      ["t[0]", 30],
      ["t[3]", 30],
      ["m", 30],
    ],
  );
  assert.ok(result.hadTie);
});

test("the first failure of a map cancels the other elements, unless failures are collected", () => {
  const attempts = { "t[0]": [{ afterMs: 50, output: 0 }], "t[1]": [{ afterMs: 10, code: "", retryable: false }] };
  const steps = [task("t")];
  const failed = interpret(define([step("m", map([0, 1], steps))]), scriptOf(attempts));
  assert.deepEqual([failed.error?.code, failed.endedAtMs, keysOf(failed)], ["task_failed", 10, []]);
  const collected = interpret(define([step("m", map([0, 1], steps, { onError: "collect" }))]), scriptOf(attempts));
  assert.deepEqual(collected.output, [
    { ok: true, value: 0 },
    { ok: false, error: { code: "task_failed", message: "task_failed" } },
  ]);
});

test("a wait takes the first event of a listed name and scope, sent before or after it started", () => {
  const any = [
    { event: "signed", scope: "=input" },
    { event: "declined", scope: "=input" },
  ];
  const run = (events: readonly ScriptedEvent[], delayMs: number) =>
    interpret(define([timer("t", delayMs), step("w", waitFor(any))]), scriptOf({}, { input: 7, events }));
  const late = run([sent(10, "signed", "8"), sent(30, "declined", "7"), sent(40, "signed", "7")], 5);
  assert.deepEqual(late.output, { event: "declined", scope: "7", payload: { atMs: 30 }, event_id: "e30" });
  assert.equal(late.endedAtMs, 30);
  const early = run([sent(40, "signed", "7"), sent(30, "declined", "7")], 100);
  assert.deepEqual(
    [early.outputs.get("w"), early.endedAtMs],
    [{ event: "declined", scope: "7", payload: { atMs: 30 }, event_id: "e30" }, 100],
  );
});

test("each event is consumed by one wait, by the one that started first", () => {
  const any = [{ event: "go", scope: "" }];
  const work = parallel({ a: [timer("t", 5), step("late", waitFor(any))], b: [step("first", waitFor(any))] });
  const result = interpret(define([step("p", work)]), scriptOf({}, { events: [sent(20, "go"), sent(10, "go")] }));
  assert.deepEqual(result.completed.slice(1), [
    { stepKey: "first", atMs: 10 },
    { stepKey: "late", atMs: 20 },
    { stepKey: "p", atMs: 20 },
  ]);
  const sequence = define([step("one", waitFor(any)), step("two", waitFor(any))]);
  const stuck = interpret(sequence, scriptOf({}, { events: [sent(10, "go")] }));
  assert.deepEqual([stuck.error?.code, stuck.error?.step, stuck.endedAtMs], ["wait_timeout", "two", 10 + minuteMs]);
});

test("a cancelled wait consumes nothing", () => {
  const any = [{ event: "go", scope: "" }];
  const work = parallel({ a: [step("w", waitFor(any))], b: [timer("t", 5), fails("f", "stopped")] });
  const steps = [step("p", work, { catch: [{ on: ["stopped"], steps: [] }] }), step("again", waitFor(any))];
  const result = interpret(define(steps), scriptOf({}, { events: [sent(10, "go")] }));
  assert.deepEqual([result.status, result.endedAtMs], ["succeeded", 10]);
});

test("after the timeout of a wait its on_timeout steps give the output, and fail the step if they fail", () => {
  const any = [{ event: "go", scope: true }];
  const run = (onTimeout: readonly Step[] | undefined) =>
    interpret(define([step("w", waitFor(any, 100, onTimeout))]), scriptOf());
  assert.equal(run(undefined).error?.code, "wait_timeout");
  assert.equal(run([transform("late", "late")]).output, "late");
  assert.equal(run([]).output, null);
  assert.deepEqual([run([fails("late", "unsigned")]).error?.code, run(undefined).endedAtMs], ["unsigned", 100]);
  const scoped = scriptOf({}, { events: [sent(5, "go", "true")] });
  assert.equal(interpret(define([step("w", waitFor(any, 100))]), scoped).endedAtMs, 5);
  const invalid = interpret(define([step("w", waitFor([{ event: "go", scope: null }], 100))]), scoped);
  assert.equal(invalid.error?.code, "expression_error");
});

test("timers wait for a duration or until a time, and not at all for a time in the past", () => {
  const run = (work: { for?: string; until?: string }) => {
    const timed = step("t", { kind: "wait_timer", forMs: undefined, for: undefined, until: undefined, ...work });
    const result = interpret(
      define([timer("first", 1000), timed]),
      scriptOf({}, { input: { wait: "2m", at: "2026-01-01T00:00:30+00:00" } }),
    );
    assert.equal(result.output, null);
    return result.error?.code ?? result.endedAtMs - 1000;
  };
  assert.equal(run({ for: "=input.wait" }), 2 * minuteMs);
  assert.equal(run({ for: "=1.5" }), 1500);
  assert.equal(run({ until: "=input.at" }), 29_000);
  assert.equal(run({ until: "2026-01-01T00:00:10Z" }), 9000);
  assert.equal(run({ until: "=run.started_at + duration('3s')" }), 2000);
  assert.equal(run({ until: "=run.started_at" }), 0);
  assert.equal(run({ for: "='soon'" }), "expression_error");
  assert.equal(run({ for: "='366d'" }), "expression_error");
  assert.equal(run({ until: "=input.wait" }), "expression_error");
});

const decide = (afterMs: number, user: string, options: Partial<Decision> = {}): Decision => ({
  afterMs,
  user,
  roles: [],
  approved: true,
  comment: "",
  ...options,
});

test("an approval waits for its quorum of different people with a role or by name", () => {
  const work = {
    kind: "approval",
    by: ["role:operator", "user:ann"],
    quorum: 2,
    timeoutMs: minuteMs,
    onTimeout: undefined,
    title: "t",
    details: {},
    commentRequired: false,
  } as const;
  const run = (decisions: readonly Decision[], options: object = {}) =>
    interpret(define([step("ok", { ...work, ...options })]), scriptOf({}, { people: { ok: decisions } }));
  const operator = { roles: ["operator"], comment: "yes" };
  const result = run([decide(5, "ann"), decide(6, "ann"), decide(7, "eve"), decide(8, "bob", operator)]);
  assert.deepEqual(result.output, {
    approved: true,
    decisions: [
      { by: "ann", approved: true, comment: "", at: "2026-01-01T00:00:00.005Z" },
      { by: "bob", approved: true, comment: "yes", at: "2026-01-01T00:00:00.008Z" },
    ],
  });
  const rejected = run([decide(5, "bob", operator), decide(6, "ann", { approved: false })]);
  assert.deepEqual([rejected.error?.code, rejected.endedAtMs], ["approval_rejected", 6]);
  assert.equal(run([decide(5, "ann")]).error?.code, "approval_timeout");
  assert.equal(run([], { onTimeout: [transform("late", "late")] }).output, "late");
  assert.equal(run([decide(5, "ann")], { quorum: 1, commentRequired: true }).error?.code, "approval_timeout");
});

test("fail fails with its code and message, and without retries", () => {
  const work = { kind: "fail", code: "unsigned", message: "=input + '!'" } as const;
  const result = interpret(define([step("f", work)], { retry: policy }), scriptOf({}, { input: "late" }));
  assert.deepEqual(result.error, { code: "unsigned", message: "late!", step: "f", details: null });
  assert.equal(result.endedAtMs, 0);
});

test("the first catch that lists the code runs after the last attempt, and gives the output of the step", () => {
  const catches = [
    { on: ["quota"], steps: [transform("c1", 1)] },
    { on: ["busy", "*"], steps: [transform("c2", ["=err.code", "=err.message", "=err.step", "=err.details.n"])] },
    { on: ["task_failed"], steps: [transform("c3", 3)] },
  ];
  const script = scriptOf({ a: [{ afterMs: 1, code: "", message: "m", details: { n: 4 } }] });
  const result = interpret(define([task("a", { catch: catches }), transform("b", "=steps.a")]), script);
  assert.deepEqual(result.output, ["task_failed", "m", "a", 4]);
  assert.deepEqual([keysOf(result), result.endedAtMs], [["c2", "a", "b"], 3003]);
});

test("a failure inside a catch is not caught by it, and err is that of the innermost catch", () => {
  const inner = fails("inner", "unsigned", { catch: [{ on: ["*"], steps: [transform("x", "=err.step")] }] });
  const caught = fails("outer", "stopped", {
    catch: [{ on: ["*"], steps: [inner, transform("y", ["=steps.inner", "=err.step"])] }],
  });
  assert.deepEqual(interpret(define([caught]), scriptOf()).output, ["inner", "outer"]);
  const again = fails("outer", "stopped", { catch: [{ on: ["*"], steps: [fails("second", "unsigned")] }] });
  assert.deepEqual(interpret(define([again]), scriptOf()).error?.step, "second");
});

test("an error that nothing catches fails the blocks around its step, whose catch sees it, and finally the run", () => {
  const block = step("pick", branch([{ when: "=true", steps: [fails("f", "stopped"), transform("never", 1)] }]), {
    catch: [{ on: ["stopped"], steps: [transform("c", "=err.step")] }],
  });
  const result = interpret(define([block]), scriptOf());
  assert.deepEqual([result.output, keysOf(result)], ["f", ["c", "pick"]]);
  assert.equal(interpret(define([fails("f", "stopped"), transform("never", 1)]), scriptOf()).status, "failed");
});

test("a failed run compensates its completed steps, last completed first, with inputs as they were", () => {
  const undo = (id: string) => task(id, { compensate: compensation({ undo: `=steps.${id}`, n: "=input" }) });
  const work = parallel({ x: [undo("slow")], y: [undo("fast")] });
  const attempts = {
    slow: [{ afterMs: 20, output: "S" }],
    fast: [{ afterMs: 10, output: "F" }],
    "~slow": [{ afterMs: 5, code: "", retryable: false }],
  };
  const steps = [undo("first"), step("p", work), fails("f", "stopped", { compensate: compensation("never") })];
  const result = interpret(define(steps, { onFailure: "compensate" }), scriptOf(attempts, { input: 3 }));
  assert.deepEqual(result.compensations, [
    { stepKey: "~slow", errorCode: "task_failed" },
    { stepKey: "~fast", errorCode: undefined },
    { stepKey: "~first", errorCode: undefined },
  ]);
  assert.deepEqual(result.inputs.get("~fast"), { undo: "F", n: 3 });
  assert.deepEqual(
    [result.status, result.error?.code, result.endedAtMs],
    ["failed", "stopped", 1020 + 5 + 1000 + 1000],
  );
  assert.deepEqual(interpret(define(steps), scriptOf(attempts, { input: 3 })).compensations, []);
});

test("steps of a map and steps in cancelled branches are compensated, a caught step is not", () => {
  const undo = { compensate: compensation("=steps.t") };
  const caught = task("c", {
    compensate: compensation(null),
    catch: [{ on: ["*"], steps: [] }],
    retry: { ...policy, maxAttempts: 1 },
  });
  const steps = [step("m", map([0, 1], [task("t", undo), caught, timer("w", 10), fails("f", "stopped")]))];
  const attempts = {
    "t[0]": [{ afterMs: 5, output: "a" }],
    "t[1]": [{ afterMs: 7, output: "b" }],
    "c[0]": [{ afterMs: 1, code: "" }],
    "c[1]": [{ afterMs: 1, code: "" }],
  };
  const result = interpret(define(steps, { onFailure: "compensate" }), scriptOf(attempts));
  assert.deepEqual(
    result.compensations.map(({ stepKey }) => [stepKey, result.inputs.get(stepKey)]),
    [
      ["~t[1]", "b"],
      ["~t[0]", "a"],
    ],
  );
});

test("a compensation is retried like its kind, and has limits of its own", () => {
  const undo = compensation(null, { timeout: { attemptMs: undefined, totalMs: 1500, heartbeatMs: undefined } });
  const script = scriptOf({ "~a": [{ afterMs: 1, code: "" }] });
  const steps = (compensate: typeof undo) => [task("a", { compensate }), fails("f", "stopped")];
  const limited = interpret(define(steps(undo), { onFailure: "compensate" }), script);
  assert.deepEqual([limited.compensations[0]?.errorCode, limited.endedAtMs], ["timeout", 2500]);
  const retried = interpret(define(steps(compensation(null)), { onFailure: "compensate" }), script);
  assert.deepEqual([retried.compensations[0]?.errorCode, retried.endedAtMs], ["task_failed", 1000 + 3003]);
});

test("a run that takes too long times out, and compensates if failures do", () => {
  const steps = [task("a", { compensate: compensation(null) }), timer("t", minuteMs)];
  const plain = interpret(define(steps, { timeoutMs: 5000 }), scriptOf());
  assert.deepEqual(
    [plain.status, plain.error?.code, plain.endedAtMs, plain.compensations],
    ["timed_out", "timeout", 5000, []],
  );
  const undone = interpret(define(steps, { timeoutMs: 5000, onFailure: "compensate" }), scriptOf());
  assert.deepEqual([undone.status, undone.endedAtMs, undone.compensations.length], ["timed_out", 6000, 1]);
});

test("a cancelled run compensates only if the cancellation says so", () => {
  const steps = [task("a", { compensate: compensation(null) }), timer("t", minuteMs)];
  const run = (compensate: boolean) =>
    interpret(define(steps, { onFailure: "compensate" }), scriptOf({}, { cancel: { atMs: 2000, compensate } }));
  assert.deepEqual([run(false).status, run(false).compensations.length, run(false).endedAtMs], ["cancelled", 0, 2000]);
  assert.deepEqual(
    [run(true).status, run(true).compensations.length, run(true).error?.code],
    ["cancelled", 1, "cancelled"],
  );
});

test("random definitions run to an end, always the same one, and use every kind of step", () => {
  const kinds = new Set<string>();
  const statuses = new Set<string>();
  let ties = 0;
  let compensations = 0;
  const runs = sized(2000, 50_000);
  fc.assert(
    fc.property(scenarios, ({ definition, script }) => {
      const result = interpret(definition, script);
      assert.deepEqual(interpret(definition, script), result);
      for (const step of allSteps(definition.steps)) kinds.add(step.work.kind);
      statuses.add(result.status);
      if (result.hadTie) ties++;
      compensations += result.compensations.length;
      const ids = allSteps(definition.steps).map(({ id }) => id);
      assert.equal(new Set(ids).size, ids.length);
      assert.equal(new Set(keysOf(result)).size, result.completed.length);
    }),
    { numRuns: runs },
  );
  assert.equal(kinds.size, 15);
  assert.deepEqual([...statuses].sort(), ["cancelled", "failed", "succeeded", "timed_out"]);
  assert.ok(compensations > runs / 50, `${compensations} compensations in ${runs} runs`);
  assert.ok(ties < runs / 10, `${ties} of ${runs} runs had ties`);
});

/** The steps of a list and all steps inside them. */
function allSteps(steps: readonly Step[]): Step[] {
  return steps.flatMap((outer) => [outer, ...listsOf(outer).flatMap(allSteps)]);
}

function listsOf({ work, catch: catches }: Step): (readonly Step[])[] {
  const lists = catches.map(({ steps }) => steps);
  switch (work.kind) {
    case "branch":
      return [...lists, ...work.arms.map(({ steps }) => steps), work.otherwise ?? []];
    case "parallel":
      return [...lists, ...work.branches.map(({ steps }) => steps)];
    case "map":
      return [...lists, work.steps];
    case "wait_event":
    case "approval":
      return [...lists, work.onTimeout ?? []];
    default:
      return lists;
  }
}
