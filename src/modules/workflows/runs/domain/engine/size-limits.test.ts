import assert from "node:assert/strict";
import { test } from "node:test";
import { compensation, define, step, task, transform } from "../../../../../../test/workflows/definition-builders.ts";
import { type Definition, defaultRetry, type Json, type Step } from "../../../definitions/index.ts";
import { Advance } from "./advance.ts";
import type { HistoryEntry } from "./history-entry.ts";
import { createPlan, type Plan } from "./plan.ts";
import { historyBytesMax, stateBytesMax } from "./size-limits.ts";
import { createRunState, type RunEvent, type RunState } from "./state.ts";

const kib = 1024;
const text = (bytes: number) => "x".repeat(bytes);
const numbers = (count: number) => Array.from({ length: count }, (_, nth) => nth);
const caught = (...steps: readonly Step[]) => [{ on: ["state_too_large"], steps }];
const map = (id: string, items: Json, steps: readonly Step[], onError: "fail" | "collect" = "fail") =>
  step(id, { kind: "map", in: items, maxItems: 10_000, maxParallel: 100, onError, steps });

/** A run whose state is stored as JSON after every advance. */
class StoredRun {
  readonly #plan: Plan;
  #stateJson: string;
  #ids = 0;
  readonly history: HistoryEntry[] = [];
  advances = 0;
  last: Advance;

  constructor(definition: Definition, input: Json = null) {
    this.#plan = createPlan(definition, "definition", 1, defaultRetry);
    this.#stateJson = JSON.stringify(createRunState(input));
    this.last = this.apply({ kind: "start" });
  }

  apply(event: RunEvent): Advance {
    const advance = new Advance(this.#plan, JSON.parse(this.#stateJson) as RunState, {
      ...{ nowMs: 1000, run: {}, mail: [], newId: () => `id${++this.#ids}` },
      stateBytes: Buffer.byteLength(this.#stateJson),
    });
    advance.apply(event);
    this.#stateJson = JSON.stringify(advance.state);
    this.history.push(...advance.history);
    this.advances++;
    this.last = advance;
    return advance;
  }

  succeed(key: string, output: Json): Advance {
    return this.apply({ kind: "attempt_succeeded", key, attempt: 1, output });
  }

  /** Goes on with what did not fit into the last advance. */
  finish(): this {
    while (this.last.ended === undefined && this.last.state.todo !== undefined) {
      this.apply({ kind: "tick" });
      assert.ok(this.stateBytes <= stateBytesMax, `${this.stateBytes} bytes`);
    }
    return this;
  }

  get stateBytes(): number {
    return Buffer.byteLength(this.#stateJson);
  }

  get failedSteps(): string[] {
    return this.history.flatMap((entry) => (entry.kind === "step_failed" ? [`${entry.step} ${entry.error.code}`] : []));
  }
}

test("a step whose output does not fit fails, and the steps that completed before it are compensated", () => {
  const steps = [
    task("a", { compensate: compensation("undo a") }),
    transform("copy", "=input"),
    task("b", { compensate: compensation("undo b") }),
  ];
  const run = new StoredRun(define(steps, { onFailure: "compensate" }), text(100 * kib));
  run.succeed("a", 1);
  assert.deepEqual(run.failedSteps, []);
  // The step did its work, but has failed: there is nothing to undo.
  const { newTasks } = run.succeed("b", text(60 * kib));
  assert.deepEqual([run.failedSteps, newTasks.map(({ key }) => key)], [["b state_too_large"], ["~a"]]);
  const { ended } = run.succeed("~a", null);
  assert.deepEqual([ended?.status, ended?.error?.code, ended?.error?.step], ["failed", "state_too_large", "b"]);
});

test("in one advance, a step that completed before the one that does not fit is compensated", () => {
  const steps = [task("a", { compensate: compensation("undo a") }), transform("x", "=input"), transform("y", "=input")];
  const run = new StoredRun(define(steps, { onFailure: "compensate" }), text(100 * kib));
  const { newTasks } = run.succeed("a", 1);
  assert.deepEqual([run.failedSteps, newTasks.map(({ key }) => key)], [["y state_too_large"], ["~a"]]);
});

test("a catch handles a state that is too large, and the run goes on", () => {
  const steps = [
    transform("x", "=input"),
    transform("y", "=input", { catch: caught(transform("small", "=err.code")) }),
  ];
  const { ended } = new StoredRun(define(steps), text(100 * kib)).last;
  assert.deepEqual([ended?.status, ended?.output], ["succeeded", "state_too_large"]);
});

test("the elements of a map that do not fit fail alone, if the map collects errors", () => {
  const run = new StoredRun(define([map("m", numbers(50), [transform("x", "=input")], "collect")]), text(30 * kib));
  const { ended } = run.finish().last;
  const results = ended!.output as readonly { readonly ok: boolean }[];
  assert.deepEqual([ended?.status, results.filter(({ ok }) => ok).length], ["succeeded", 7]);
  assert.ok(run.stateBytes <= stateBytesMax);
});

test("a map, an approval and a wait that do not fit fail", () => {
  const input = text(100 * kib);
  const approval = {
    ...({ kind: "approval", by: ["role:admin"], quorum: 1, timeoutMs: 1000, onTimeout: undefined } as const),
    ...{ commentRequired: false, title: "", details: "=input" },
  };
  const works = {
    map: map("s", ["=input", "=input"], []).work,
    approval,
    effect: { kind: "subworkflow", key: "other", version: undefined, input: "=input" },
  } as const;
  for (const [kind, work] of Object.entries(works)) {
    const steps = [transform("x", "=input"), step("s", work, { catch: caught(transform("after", kind)) })];
    const run = new StoredRun(define(steps), input);
    assert.deepEqual([run.failedSteps, run.last.ended?.output], [["s state_too_large"], kind]);
    assert.deepEqual([...run.last.approvals], kind === "approval" ? [["s", "opened"]] : []);
  }
});

test("outputs that no step can read any more take no room", () => {
  const inner = [transform("x", "=input"), transform("y", 1)];
  const run = new StoredRun(define([map("m", numbers(40), inner)]), text(100 * kib)).finish();
  assert.deepEqual([run.last.ended?.status, run.failedSteps], ["succeeded", []]);
  // An advance stores a few megabytes of history at most.
  assert.ok(run.advances > 1, String(run.advances));
});

test("a run whose history is full fails, and compensates without recording further outputs", () => {
  const inner = [transform("x", "=input"), transform("y", 1)];
  const steps = [task("a", { compensate: compensation("undo") }), map("m", numbers(400), inner), task("b")];
  const run = new StoredRun(define(steps, { onFailure: "compensate" }), text(100 * kib));
  run.succeed("a", null);
  run.finish();
  assert.ok("~a" in run.last.state.active);
  assert.ok(run.last.state.historyBytes! < historyBytesMax + 5 * 1024 * kib);
  const recordedBytes = Buffer.byteLength(JSON.stringify(run.history));
  assert.ok(Math.abs(recordedBytes - run.last.state.historyBytes!) < 0.05 * recordedBytes, String(recordedBytes));
  const { ended, history } = run.succeed("~a", text(100 * kib));
  assert.deepEqual([ended?.status, ended?.error?.code, ended?.error?.step], ["failed", "state_too_large", ""]);
  assert.deepEqual(history[0], { kind: "step_completed", step: "~a", output: null });
});

test("the errors of attempts are not recorded beyond the limit of the history", () => {
  const retry = { maxAttempts: 10_000, initialMs: 1, factor: 1, maxMs: 1, on: undefined };
  const run = new StoredRun(define([task("a", { retry })]));
  const failure = { code: "broken", message: "", details: text(1024 * kib), retryable: true };
  for (let attempt = 1; attempt <= 20; attempt++) run.apply({ kind: "attempt_failed", key: "a", attempt, ...failure });
  const details = run.history.flatMap((entry) => (entry.kind === "attempt_failed" ? [entry.error.details] : []));
  assert.deepEqual([details.length, details.filter((each) => each !== null).length], [20, 15]);
  assert.equal(run.succeed("a", 1).ended, undefined);
  assert.equal(run.apply({ kind: "attempt_succeeded", key: "a", attempt: 21, output: 1 }).ended?.status, "succeeded");
});

test("a result that repeats a large value is refused before it is built", () => {
  const list = numbers(5000);
  const steps = [
    transform(
      "x",
      Array.from({ length: 5000 }, () => "=input"),
    ),
  ];
  const run = new StoredRun(define(steps), list);
  assert.deepEqual(run.failedSteps, ["x state_too_large"]);
  const output = Array.from({ length: 5000 }, () => "=input");
  const { ended } = new StoredRun(define([transform("x", 1)], { output }), list).last;
  assert.deepEqual([ended?.status, ended?.error?.code], ["failed", "state_too_large"]);
});
