import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../../../test/harness/random.ts";
import {
  compensation,
  define,
  fails,
  step,
  task,
  timer,
  transform,
} from "../../../../../../test/workflows/definition-builders.ts";
import { scenarios } from "../../../../../../test/workflows/random-definitions.ts";
import type { Definition, Json, Step } from "../../../definitions/index.ts";
import type { Plan } from "../engine/plan.ts";
import { planReplay, type ReplayPlan, type ReplayRequest, type ReplaySource } from "./replay-plan.ts";
import { completedIn, type Outcome, planOf, simulateRun } from "./testing/simulated-run.ts";

const nowMs = 1_000_000;
const noChange: ReplayRequest = { from: undefined, input: undefined, values: {} };

/** The plan of a replay that is possible. */
function replay(source: ReplaySource, plan: Plan = source.plan, request: Partial<ReplayRequest> = {}): ReplayPlan {
  const planned = planReplay(source, plan, { ...noChange, ...request }, nowMs);
  if ("refusals" in planned) assert.fail(JSON.stringify(planned.refusals));
  return planned;
}

/** The codes and steps of a replay that is refused. */
function refusals(source: ReplaySource, plan: Plan, request: Partial<ReplayRequest> = {}): string[] {
  const planned = planReplay(source, plan, { ...noChange, ...request }, nowMs);
  assert.ok("refusals" in planned, "the replay is possible");
  return planned.refusals.map(({ code, step: key }) => `${code} ${key}`);
}

const failing =
  (...keys: string[]) =>
  (key: string): Outcome =>
    keys.includes(key) ? { code: "broken" } : { output: `old ${key}` };

const parallel = (id: string, branches: Record<string, readonly Step[]>, onError: "fail" | "collect" = "fail") =>
  step(id, { kind: "parallel", branches: Object.entries(branches).map(([name, steps]) => ({ name, steps })), onError });
const map = (id: string, steps: readonly Step[], options: { maxParallel?: number; onError?: "collect" } = {}) =>
  step(id, {
    ...{ kind: "map", in: "=input", maxItems: 100, maxParallel: options.maxParallel ?? 10, steps },
    onError: options.onError ?? "fail",
  });
const branch = (id: string, when: string, steps: readonly Step[], otherwise: readonly Step[]) =>
  step(id, { kind: "branch", arms: [{ when, steps }], otherwise });
const wait = (id: string, onTimeout: readonly Step[]) =>
  step(id, { kind: "wait_event", any: [{ event: "e", scope: "" }], timeoutMs: 1000, onTimeout });

test("a replay continues at the step that failed, with the outputs of the steps before it", () => {
  const plan = planOf(define([task("a"), task("b", { with: "=steps.a" }), task("c"), task("d", { with: "=steps.b" })]));
  const run = simulateRun(plan, { outcome: failing("c") });
  const planned = replay(run);
  assert.deepEqual([planned.from, planned.kept, planned.repeated, planned.continued], ["c", ["a", "b"], ["c"], ["c"]]);
  const again = simulateRun(plan, { state: planned.state });
  assert.deepEqual([again.status, again.started, again.requests.d], ["succeeded", ["c", "d"], "old b"]);
});

test("a replay from the beginning keeps nothing, and start is a step if there is one", () => {
  const plan = planOf(define([task("a"), task("b")]));
  const run = simulateRun(plan, { outcome: failing("b") });
  for (const from of ["", "start"]) {
    const planned = replay(run, plan, { from });
    assert.deepEqual([planned.from, planned.kept], ["start", []]);
    assert.deepEqual(simulateRun(plan, { state: planned.state }).started, ["a", "b"]);
  }
  const named = planOf(define([task("a"), task("start")]));
  const other = simulateRun(named, { outcome: failing("start") });
  assert.deepEqual(replay(other, named, { from: "start" }).kept, ["a"]);
});

test("an earlier step can be named, and the steps after it run again", () => {
  const plan = planOf(define([task("a"), task("b"), task("c")]));
  const run = simulateRun(plan, { outcome: failing("c") });
  const planned = replay(run, plan, { from: "b" });
  assert.deepEqual([planned.kept, planned.repeated], [["a"], ["b", "c"]]);
  assert.deepEqual(simulateRun(plan, { state: planned.state }).started, ["b", "c"]);
});

test("a run that succeeded is replayed from a step that is named", () => {
  const plan = planOf(define([task("a"), task("b")]));
  const run = simulateRun(plan);
  assert.deepEqual(refusals(run, plan), ["step_required "]);
  assert.deepEqual(simulateRun(plan, { state: replay(run, plan, { from: "b" }).state }).started, ["b"]);
});

test("a run that timed out continues with everything that was in progress", () => {
  const plan = planOf(define([task("a"), parallel("p", { x: [task("x1"), task("x2")], y: [task("y1")] }), task("z")]));
  const run = simulateRun(plan, { outcome: (key) => (key === "x2" ? "pending" : { output: key }) });
  assert.equal(run.status, "timed_out");
  const planned = replay(run);
  assert.deepEqual([planned.from, planned.continued], ["", ["x2"]]);
  assert.deepEqual(simulateRun(plan, { state: planned.state }).started, ["x2", "z"]);
});

test("a run whose output could not be evaluated only evaluates it again", () => {
  const steps = [task("a"), task("b")];
  const plan = planOf(define(steps, { output: "=steps.b.missing" }));
  const run = simulateRun(plan);
  assert.deepEqual([run.status, run.error?.step], ["failed", ""]);
  const fixed = planOf(define(steps, { output: "=steps.b" }), 2);
  const again = simulateRun(fixed, { state: replay(run, fixed).state });
  assert.deepEqual([again.status, again.output, again.started], ["succeeded", "b", []]);
});

test("the input and outputs of earlier steps can be replaced", () => {
  const plan = planOf(define([task("a"), task("b", { with: { i: "=input", a: "=steps.a" } })]));
  const run = simulateRun(plan, { outcome: failing("b"), input: "old" });
  const planned = replay(run, plan, { input: "new", values: { a: "other" } });
  assert.deepEqual(simulateRun(plan, { state: planned.state }).requests.b, { i: "new", a: "other" });
  assert.equal(replay(run, plan, { input: null }).state.input, null);
  for (const values of [{ b: 1 }, { c: 1 }, { "a[0]": 1 }] as Record<string, Json>[]) {
    assert.deepEqual(refusals(run, plan, { values }), [`unknown_value ${Object.keys(values)[0]}`]);
  }
});

test("steps that a run never completed can be skipped if nothing reads them, or if a value is given", () => {
  const unread = planOf(define([task("a"), task("b"), task("c", { with: "=steps.a" })]));
  const run = simulateRun(unread, { outcome: failing("b") });
  assert.deepEqual(simulateRun(unread, { state: replay(run, unread, { from: "c" }).state }).started, ["c"]);
  const read = planOf(define([task("a"), task("b"), task("c", { with: "=steps.b" })]));
  const other = simulateRun(read, { outcome: failing("b") });
  assert.deepEqual(refusals(other, read, { from: "c" }), ["output_missing b"]);
  const given = replay(other, read, { from: "c", values: { b: 7 } });
  assert.equal(simulateRun(read, { state: given.state }).requests.c, 7);
});

test("a step in an arm continues in the arm that the run has taken, and in no other", () => {
  const plan = planOf(
    define([
      task("a"),
      branch("pick", "=input", [task("x1"), task("x2")], [task("y1")]),
      task("z", { with: "=steps.pick" }),
    ]),
  );
  const run = simulateRun(plan, { input: true, outcome: failing("x2") });
  // The input decides no more: the arm has been taken.
  const planned = replay(run, plan, { input: false });
  assert.deepEqual([planned.from, planned.kept], ["x2", ["a", "x1"]]);
  const again = simulateRun(plan, { state: planned.state });
  assert.deepEqual([again.started, again.requests.z], [["x2", "z"], "x2"]);
  assert.deepEqual(refusals(run, plan, { from: "y1" }), ["not_reached pick"]);
});

test("a branch of a parallel continues, and the others keep their results or continue where they were", () => {
  const branches = { x: [task("x1"), task("x2")], y: [task("y1"), task("y2")], w: [task("w1")] };
  const plan = planOf(define([parallel("p", branches), task("z", { with: "=steps.p" })]));
  const outcome = (key: string): Outcome =>
    key === "x2" ? { code: "broken" } : key === "y2" ? "pending" : { output: `old ${key}` };
  const run = simulateRun(plan, { outcome });
  const planned = replay(run);
  assert.deepEqual(
    [planned.kept, planned.continued],
    [
      ["x1", "y1", "w1"],
      ["x2", "y2"],
    ],
  );
  const again = simulateRun(plan, { state: planned.state });
  assert.deepEqual(again.started, ["x2", "y2", "z"]);
  assert.deepEqual(again.requests.z, { x: "x2", y: "y2", w: "old w1" });
});

test("a completed branch starts again when one of its steps is named", () => {
  const plan = planOf(define([parallel("p", { x: [task("x1"), task("x2")], y: [task("y1")] }), task("z")]));
  const run = simulateRun(plan, { outcome: failing("z") });
  const planned = replay(run, plan, { from: "x2" });
  assert.deepEqual(
    [planned.kept, planned.repeated],
    [
      ["x1", "y1"],
      ["x2", "z"],
    ],
  );
  const again = simulateRun(plan, { state: planned.state });
  assert.deepEqual([again.status, again.started], ["succeeded", ["x2", "z"]]);
});

test("elements of a map that completed keep their results, and the others run", () => {
  const plan = planOf(
    define([
      map("m", [task("a", { with: "=item" }), task("b", { with: "=steps.a" })], { maxParallel: 2 }),
      task("z", { with: "=steps.m" }),
    ]),
  );
  const outcome = (key: string): Outcome =>
    key === "b[2]" ? { code: "broken" } : key === "b[1]" ? "pending" : { output: `old ${key}` };
  const run = simulateRun(plan, { outcome, input: ["p", "q", "r", "s"] });
  const planned = replay(run, plan, { input: [] });
  assert.deepEqual([planned.from, planned.kept], ["b[2]", ["a[0]", "a[1]", "b[0]", "a[2]"]]);
  assert.deepEqual(planned.continued, ["b[2]", "b[1]"]);
  const again = simulateRun(plan, { state: planned.state });
  assert.deepEqual(again.started, ["b[2]", "b[1]", "a[3]", "b[3]", "z"]);
  assert.deepEqual(again.requests.z, ["old b[0]", "b[1]", "b[2]", "b[3]"]);
  assert.deepEqual([again.requests["a[3]"], again.requests["b[1]"]], ["s", "old a[1]"]);
  assert.deepEqual(refusals(run, plan, { from: "a[3]" }), ["not_reached m"]);
  assert.deepEqual(refusals(run, plan, { from: "a" }), ["unknown_step a"]);
});

test("a replay keeps to the parallelism of a map", () => {
  const plan = planOf(define([map("m", [task("a"), task("b")], { maxParallel: 1 })]));
  const outcome = (key: string): Outcome => (key === "b[2]" ? { code: "broken" } : { output: key });
  const run = simulateRun(plan, { outcome, input: [1, 2, 3, 4] });
  const again = simulateRun(plan, { state: replay(run, plan, { from: "b[0]" }).state });
  assert.deepEqual([again.status, again.openMax], ["succeeded", 1]);
  assert.deepEqual(again.started, ["b[0]", "b[2]", "a[3]", "b[3]"]);
});

test("collected failures of other elements stay, and the named one runs again", () => {
  const plan = planOf(define([map("m", [task("a")], { onError: "collect" }), task("z", { with: "=steps.m" })]));
  const run = simulateRun(plan, { outcome: failing("a[0]", "a[1]", "z"), input: [1, 2, 3] });
  const again = simulateRun(plan, { state: replay(run, plan, { from: "a[1]" }).state });
  assert.deepEqual(again.started, ["a[1]", "z"]);
  assert.deepEqual(again.requests.z, [
    { ok: false, error: { code: "broken", message: "no" } },
    { ok: true, value: "a[1]" },
    { ok: true, value: "old a[2]" },
  ]);
});

test("nested maps and parallels continue at every level", () => {
  const plan = planOf(
    define([
      map("outer", [
        parallel("p", { l: [task("l1")], r: [map("inner", [task("i1"), task("i2", { with: "=index" })])] }),
        task("after"),
      ]),
      task("z", { with: "=steps.outer" }),
    ]),
  );
  const run = simulateRun(plan, { outcome: failing("i2[1,0]"), input: [[1], [2]] as Json });
  assert.equal(run.status, "failed");
  const planned = replay(run);
  const again = simulateRun(plan, { state: planned.state });
  assert.equal(again.status, "succeeded");
  for (const key of again.started) assert.ok(!planned.kept.includes(key), key);
  assert.ok(again.started.includes("i2[1,0]"));
});

test("steps of a catch and of on_timeout continue with the error and without another wait", () => {
  const caught = planOf(
    define([
      task("a", {
        catch: [{ on: ["broken"], steps: [task("h1"), task("h2", { with: "=err.code" })] }],
        compensate: compensation("undo"),
      }),
      task("z", { with: "=steps.a" }),
    ]),
  );
  const run = simulateRun(caught, { outcome: failing("a", "h2") });
  const planned = replay(run);
  assert.deepEqual([planned.from, planned.kept], ["h2", ["h1"]]);
  const again = simulateRun(caught, { state: planned.state });
  assert.deepEqual([again.started, again.requests.h2, again.requests.z], [["h2", "z"], "broken", "h2"]);
  // The step itself can be named, too.
  assert.deepEqual(simulateRun(caught, { state: replay(run, caught, { from: "a" }).state }).started, ["a", "z"]);

  const timed = planOf(define([task("a"), wait("w", [task("t1"), task("t2")]), task("z", { with: "=steps.w" })]));
  const late = simulateRun(timed, { outcome: failing("t2") });
  const started = simulateRun(timed, { state: replay(late).state });
  assert.deepEqual([started.started, started.requests.z], [["t2", "z"], "t2"]);
  const intime = simulateRun(timed, {
    outcome: failing("z"),
    events: [{ kind: "mail", mail: { eventId: "1", event: "e", scope: "", payload: 1 } }],
  });
  assert.deepEqual(refusals(intime, timed, { from: "t1" }), ["not_reached w"]);
});

test("waits and timers that had not ended start again", () => {
  const plan = planOf(define([parallel("p", { x: [task("x1"), task("x2")], y: [task("y1"), timer("t", 60_000)] })]));
  const run = simulateRun(plan, { outcome: failing("x2") });
  const again = simulateRun(plan, { state: replay(run).state });
  assert.deepEqual([again.status, again.started], ["succeeded", ["x2"]]);
});

test("compensations of kept steps stay registered with their requests, and those of repeated steps do not", () => {
  const undo = (id: string) => compensation({ was: `=steps.${id}` });
  const plan = planOf(
    define(
      [
        parallel("p", { x: [task("a", { compensate: undo("a") })], y: [task("b", { compensate: undo("b") })] }),
        task("c", { compensate: undo("c") }),
        task("d"),
      ],
      { onFailure: "compensate" },
    ),
  );
  // The run was cancelled without compensation, so its effects are still there.
  const run = simulateRun(plan, {
    outcome: (key) => (key === "d" ? "pending" : { output: `old ${key}` }),
    events: [{ kind: "cancel", by: "ann", reason: "", compensate: false }],
  });
  assert.equal(run.status, "cancelled");
  const again = simulateRun(plan, { state: replay(run).state, outcome: failing("d") });
  assert.deepEqual(again.started, ["d", "~c", "~b", "~a"]);
  assert.deepEqual([again.requests["~c"], again.requests["~a"]], [{ was: "old c" }, { was: "old a" }]);
  const earlier = simulateRun(plan, {
    state: replay(run, plan, { from: "c" }).state,
    outcome: (key) => (key === "d" ? { code: "broken" } : { output: `new ${key}` }),
  });
  assert.deepEqual(earlier.started, ["c", "d", "~c", "~b", "~a"]);
  assert.deepEqual(earlier.requests["~c"], { was: "new c" });
});

test("a step whose effect was undone is not kept: by default the run continues at the first of them", () => {
  const undone = { compensate: compensation("undo") };
  const plan = planOf(
    define([task("a"), task("b", undone), parallel("p", { x: [task("c", undone)], y: [task("e")] }), task("d")], {
      onFailure: "compensate",
    }),
  );
  const run = simulateRun(plan, { outcome: failing("d") });
  assert.deepEqual(run.started.slice(-2), ["~c", "~b"]);
  assert.deepEqual(refusals(run, plan, { from: "d" }), ["compensated c", "compensated b"]);
  assert.deepEqual(refusals(run, plan, { from: "c" }), ["compensated b"]);
  assert.deepEqual(replay(run, plan, { from: "p", values: { b: 1 } }).kept, ["a", "b"]);
  const planned = replay(run);
  assert.deepEqual([planned.from, planned.kept], ["b", ["a"]]);
  assert.deepEqual(simulateRun(plan, { state: planned.state }).started, ["b", "c", "e", "d"]);
});

test("a compensation that failed stays registered", () => {
  const plan = planOf(
    define([task("a", { compensate: compensation("undo") }), task("b")], { onFailure: "compensate" }),
  );
  const run = simulateRun(plan, { outcome: failing("b", "~a") });
  const again = simulateRun(plan, { state: replay(run).state, outcome: failing("b") });
  assert.deepEqual(again.started, ["b", "~a"]);
});

test("on a newer version no completed step runs again, and added steps before the first one are skipped", () => {
  const plan = planOf(define([task("a"), task("b"), task("c")]));
  const run = simulateRun(plan, { outcome: failing("c") });
  const newer = planOf(
    define([
      task("first"),
      task("a"),
      task("b"),
      transform("fix", { n: "=steps.b" }),
      task("c", { with: "=steps.fix" }),
      task("d"),
    ]),
    2,
  );
  // The added step is named, so it runs.
  const planned = replay(run, newer, { from: "fix" });
  assert.deepEqual(planned.kept, ["a", "b"]);
  const again = simulateRun(newer, { state: planned.state });
  assert.deepEqual([again.started, again.requests.c], [["c", "d"], { n: "old b" }]);
  assert.deepEqual(refusals(run, newer), ["output_missing fix"]);
});

test("what does not fit a newer version is refused by name", () => {
  const plan = planOf(define([task("a"), task("b", { compensate: compensation("undo") }), task("c")]));
  const run = simulateRun(plan, { outcome: failing("c") });
  const cases: [string, Definition, string[]][] = [
    ["the step is missing", define([task("a"), task("b")]), ["unknown_step c"]],
    ["a completed step is after it", define([task("a"), task("c"), task("b")]), ["would_run_again b"]],
    [
      "its block is another one",
      define([task("a"), task("b"), branch("x", "=true", [task("c")], [])]),
      ["nesting_changed c"],
    ],
    ["its compensation is gone", define([task("a"), task("c")]), ["compensation_missing b"]],
    [
      "an output is missing",
      define([task("a"), task("n"), task("b", { compensate: compensation("") }), task("c", { with: "=steps.n" })]),
      ["output_missing n"],
    ],
  ];
  for (const [name, definition, expected] of cases) {
    assert.deepEqual(refusals(run, planOf(definition, 2)), expected, name);
  }
  const without = planOf(define([task("a"), task("b"), task("c")], { onFailure: "compensate" }), 2);
  const again = simulateRun(without, { state: replay(run, without).state, outcome: failing("c") });
  assert.deepEqual(again.started, ["c"]);
});

test("a newer version may move arms and add branches, and the completed steps stay completed", () => {
  const plan = planOf(
    define([
      branch("pick", "=true", [task("a"), task("b")], [task("o")]),
      parallel("p", { x: [task("x1")], y: [task("y1"), task("y2")] }),
    ]),
  );
  const inArm = simulateRun(plan, { outcome: failing("b") });
  const moved = planOf(
    define([
      step("pick", {
        kind: "branch",
        arms: [
          { when: "=false", steps: [task("n")] },
          { when: "=true", steps: [task("a"), task("b")] },
        ],
        otherwise: undefined,
      }),
    ]),
    2,
  );
  assert.deepEqual(simulateRun(moved, { state: replay(inArm, moved).state }).started, ["b"]);
  const inBranch = simulateRun(plan, { outcome: failing("y2") });
  const more = planOf(
    define([
      branch("pick", "=true", [task("a"), task("b")], []),
      parallel("p", { x: [task("x1")], y: [task("y1"), task("y2")], w: [task("w1")] }),
    ]),
    2,
  );
  const again = simulateRun(more, { state: replay(inBranch, more).state });
  assert.deepEqual([again.status, again.started], ["succeeded", ["y2", "w1"]]);
});

test("a replay can be replayed: it keeps what both runs completed", () => {
  const plan = planOf(
    define([
      parallel("p", { x: [task("x1")], y: [task("y1")] }),
      task("a"),
      map("m", [task("e1"), task("e2")]),
      task("z", { with: "=[steps.a, steps.m]" }),
    ]),
  );
  const first = simulateRun(plan, { outcome: failing("e2[1]"), input: [1, 2, 3] });
  const second = simulateRun(plan, { state: replay(first).state, outcome: failing("z"), runId: "second" });
  assert.deepEqual([second.status, second.started.includes("a")], ["failed", false]);
  const planned = replay(second);
  assert.deepEqual([planned.from, planned.state.replay?.of], ["z", "second"]);
  const third = simulateRun(plan, { state: planned.state });
  assert.deepEqual([third.status, third.started, (third.requests.z as Json[])[0]], ["succeeded", ["z"], "old a"]);
  // Only the history of the first run contains the events inside the parallel.
  assert.deepEqual(refusals(second, plan, { from: "x1" }), ["history_sealed p"]);
  assert.deepEqual(simulateRun(plan, { state: replay(second, plan, { from: "p" }).state }).status, "succeeded");
});

test("a step that only fails is replayed like any other", () => {
  const plan = planOf(define([task("a"), fails("f", "stopped")]));
  const run = simulateRun(plan);
  const fixed = planOf(define([task("a"), transform("f", 1)]), 2);
  assert.deepEqual(
    [simulateRun(fixed, { state: replay(run, fixed).state }).output, replay(run, fixed).kept],
    [1, ["a"]],
  );
});

test("random runs: no kept step ever runs again, from whichever step, also when the replay is replayed", () => {
  let replays = 0;
  fc.assert(
    fc.property(scenarios, fc.nat(), fc.nat(), ({ definition, script }, seed, other) => {
      const plan = planOf(definition);
      const outcomes =
        (salt: number) =>
        (key: string): Outcome => {
          const n = hash(`${key}${salt}`) % 8;
          return n === 0
            ? { code: "busy" }
            : n === 1
              ? { code: "quota" }
              : // The time-out of a run does not end its compensations.
                n === 2 && salt % 3 === 0 && !key.startsWith("~")
                ? "pending"
                : { output: { key, salt } };
        };
      const input = script.input;
      const first = simulateRun(plan, { outcome: outcomes(seed), input });
      replays += checkReplays(first, outcomes(other), ["compensated"], (second) =>
        checkReplays(second, () => ({ output: null }), ["compensated", "history_sealed", "output_missing"]),
      );
    }),
  );
  assert.ok(replays > 100, `only ${replays} replays`);
});

function checkReplays(
  run: ReplaySource,
  outcome: (key: string) => Outcome,
  allowed: readonly string[],
  then: (run: ReplaySource) => unknown = () => {},
): number {
  const keys = new Set(
    run.history.flatMap((entry) => ("step" in entry && !entry.step.startsWith("~") ? [entry.step] : [])),
  );
  let replays = 0;
  for (const from of [undefined, "", ...keys]) {
    const planned = planReplay(run, run.plan, { ...noChange, from }, nowMs);
    if ("refusals" in planned) {
      const codes = planned.refusals.map(({ code }) => code);
      if (from === undefined && codes[0] === "step_required") continue;
      assert.ok(
        codes.every((code) => allowed.includes(code)),
        `${from}: ${JSON.stringify(planned.refusals)}`,
      );
      continue;
    }
    replays++;
    const again = simulateRun(run.plan, { state: planned.state, outcome });
    const kept = new Set(planned.kept);
    for (const key of [...again.started, ...completedIn(again.history)]) {
      assert.ok(!kept.has(key), `${key} ran again after a replay from ${from}`);
    }
    if (from !== undefined && from !== "") {
      const touched = again.history.some((entry) => "step" in entry && entry.step === from);
      assert.ok(touched || again.status !== "succeeded", `${from} did not run`);
    }
    then(again);
  }
  return replays;
}

function hash(text: string): number {
  let value = 7;
  for (const character of text) value = (value * 31 + character.charCodeAt(0)) % 1_000_003;
  return value;
}
