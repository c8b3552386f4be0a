import assert from "node:assert/strict";
import { test } from "node:test";
import { runAtOnce } from "../../../../platform/event-loop/index.ts";
import { defaultRetry, parseDefinition } from "../../definitions/index.ts";
import type { HistoryEntry } from "../domain/engine/history-entry.ts";
import { createPlan } from "../domain/engine/plan.ts";
import { simulateRun } from "../simulation/simulated-run.ts";
import type { RecordedRun } from "./recorded-run-store.ts";
import { scriptOf } from "./recorded-script.ts";

const startMs = 1_800_000_000_000;
const minuteMs = 60_000;
const step = "pack";

/** Simulates a run of a task from what was recorded of it: entries at their minutes. Attempts may take 5 minutes. */
function simulate(recorded: readonly (readonly [minutes: number, entry: HistoryEntry])[]) {
  const steps = [{ id: step, task: { queue: "q", type: "t" }, retry: { max_attempts: 3, initial: "1m" } }];
  const { definition } = parseDefinition({ dsl: "1", key: "k", timeout: "1d", steps } as never);
  const plan = createPlan(definition!, "", 0, defaultRetry);
  const advances = recorded.map(([minutes, entry]) => ({ atMs: startMs + minutes * minuteMs, entries: [entry] }));
  const run = { input: null, createdAt: new Date(startMs), advances } as unknown as RecordedRun;
  const { status, durationMs, path } = runAtOnce(simulateRun(plan, { ...scriptOf(run, [plan]), run: {} }));
  return { status, minutes: durationMs / minuteMs, attempts: path[0]?.attempts };
}

const started = [0, { kind: "step_started", step }] as const;
const completedAt = (minutes: number) => [minutes, { kind: "step_completed", step, output: {} }] as const;
const failedAt = (minutes: number, code: string) =>
  [
    minutes,
    { kind: "attempt_failed", step, attempt: 1, error: { code, message: "", details: null }, delay_ms: minuteMs },
  ] as const;

test("a task that waited for a worker for longer than an attempt may take does not time out", () => {
  assert.deepEqual(simulate([started, completedAt(12)]), { status: "succeeded", minutes: 12, attempts: 1 });
});

test("attempts take as long as they did, without the back-off between them, and time out if they did", () => {
  for (const code of ["attempt_timeout", "worker_error"]) {
    const ended = simulate([started, failedAt(2, code), completedAt(5)]);
    assert.deepEqual(ended, { status: "succeeded", minutes: 5, attempts: 2 }, code);
  }
});
