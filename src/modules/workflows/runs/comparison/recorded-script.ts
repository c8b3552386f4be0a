import type { Json } from "../../definitions/index.ts";
import type { Plan } from "../domain/engine/plan.ts";
import type { StepKey } from "../domain/engine/step-key.ts";
import type {
  SimulatedDecision,
  SimulatedEvent,
  SimulationScript,
  StepStub,
  StubOutcome,
} from "../simulation/simulation.ts";
import type { RecordedRun } from "./recorded-run-store.ts";

/** What was recorded of a step: when it started, how its attempts ended, and when the last one did. */
interface RecordedStep {
  readonly startedMs: number;
  /** The back-off between its attempts. */
  backoffMs: number;
  readonly outcomes: StubOutcome[];
  endedMs: number | undefined;
}

/** Longer than any run: such a step does not end. */
const neverMs = 1e12;
const timeMsMax = 1e11;

/** The script with which a simulated run gets what a recorded run got: the results of its steps, its events and its decisions. */
export function scriptOf(run: RecordedRun, plans: readonly Plan[]): Omit<SimulationScript, "run"> {
  const startMs = run.createdAt.getTime();
  const steps = new Map<StepKey, RecordedStep>();
  const requestedMs = new Map<StepKey, number>();
  const events: (Omit<SimulatedEvent, "payload"> & { readonly id: string })[] = [];
  const payloads = new Map<string, Json>();
  const decisions: SimulatedDecision[] = [];
  for (const { atMs, entries } of run.advances ?? []) {
    for (const entry of entries) {
      switch (entry.kind) {
        case "step_started":
          steps.set(entry.step, { startedMs: atMs, backoffMs: 0, outcomes: [], endedMs: undefined });
          break;
        case "attempt_failed": {
          const step = steps.get(entry.step);
          if (step === undefined) break;
          step.outcomes.push(failureOf(entry.error, true));
          step.backoffMs += entry.delay_ms;
          break;
        }
        case "step_failed":
          end(steps.get(entry.step), atMs, failureOf(entry.error, false));
          break;
        case "step_completed": {
          end(steps.get(entry.step), atMs, { output: entry.output });
          const { event_id: id, payload } = Object(entry.output) as { event_id?: string; payload?: Json };
          if (id !== undefined) payloads.set(id, payload ?? null);
          break;
        }
        case "event_received":
          events.push({ event: entry.event, scope: entry.scope, afterMs: atMs - startMs, id: entry.event_id });
          break;
        case "approval_requested":
          requestedMs.set(entry.step, atMs);
          break;
        case "approval_decided": {
          const { step, by, approved, comment } = entry;
          const afterMs = Math.max(0, atMs - (requestedMs.get(step) ?? atMs));
          decisions.push({ step, by, roles: approverRoles(plans), approved, comment, afterMs });
          break;
        }
        default:
          break;
      }
    }
  }
  return {
    input: run.input,
    startedAtMs: startMs,
    stubs: new Map([...steps].map(([key, step]) => [key, stubOf(step)])),
    events: events.map(({ id, ...event }) => ({ ...event, payload: payloads.get(id) ?? null })),
    decisions,
    timeMsMax,
  };
}

/** The first end of a step counts: a catch may complete a step that has failed. */
function end(step: RecordedStep | undefined, atMs: number, outcome: StubOutcome): void {
  if (step === undefined || step.endedMs !== undefined) return;
  step.outcomes.push(outcome);
  step.endedMs = atMs;
}

/** The history does not say when a worker got the task, so that the wait is part of the attempts. */
function stubOf({ startedMs, backoffMs, outcomes, endedMs }: RecordedStep): StepStub {
  if (endedMs === undefined) return { outcomes: [{ output: null }], afterMs: neverMs, includesWait: true };
  const afterMs = Math.max(0, endedMs - startedMs - backoffMs) / outcomes.length;
  return { outcomes, afterMs, includesWait: true };
}

function failureOf({ code, message }: { readonly code: string; readonly message: string }, retryable: boolean) {
  return { code, message, retryable };
}

/** All roles that approvals name: who decided had the right one, and the history does not say which. */
function approverRoles(plans: readonly Plan[]): string[] {
  const approvers = plans.flatMap(({ steps }) =>
    [...steps.values()].flatMap(({ work }) => (work.kind === "approval" ? work.by : [])),
  );
  return approvers.filter((who) => who.startsWith("role:")).map((who) => who.slice("role:".length));
}
