import type { Json } from "../../definitions/index.ts";
import type { RunEnd } from "../domain/engine/advance-result.ts";
import type { HistoryError } from "../domain/engine/history-entry.ts";

/** Inputs to a simulated run. Times are milliseconds. */
export interface SimulationScript {
  readonly input: Json;
  /** The variable `run`, without `started_at`. */
  readonly run: Readonly<Record<string, unknown>>;
  /** The wall-clock time of the virtual start. */
  readonly startedAtMs: number;
  /** The results of steps, by step id or step key. */
  readonly stubs: ReadonlyMap<string, StepStub>;
  readonly events: readonly SimulatedEvent[];
  readonly decisions: readonly SimulatedDecision[];
  /** Infinity: until the end of the run. */
  readonly timeMsMax: number;
}

/** The results of the attempts of a step. The last one repeats. */
export interface StepStub {
  readonly outcomes: readonly StubOutcome[];
  readonly afterMs: number;
  /** Whether `afterMs` includes the wait for a worker. Then attempts time out only where the outcomes say so. */
  readonly includesWait?: boolean;
}

export type StubOutcome =
  | { readonly output: Json }
  | { readonly code: string; readonly message: string; readonly retryable: boolean };

export interface SimulatedEvent {
  readonly event: string;
  readonly scope: string;
  readonly payload: Json;
  /** The time since the start of the run. */
  readonly afterMs: number;
}

export interface SimulatedDecision {
  /** A step id or a step key. */
  readonly step: string;
  readonly by: string;
  readonly roles: readonly string[];
  readonly approved: boolean;
  readonly comment: string;
  /** The time since the approval was requested. */
  readonly afterMs: number;
}

/** A limit that stopped a simulation before the end of the run. */
export type SimulationStop = "max_time" | "max_steps" | "max_bytes" | "max_expression_steps";

export interface Simulation {
  readonly status: RunEnd["status"] | "running" | "waiting";
  readonly output: Json;
  readonly error: RunEnd["error"];
  readonly durationMs: number;
  readonly stoppedBy: SimulationStop | undefined;
  readonly path: readonly SimulatedStep[];
  readonly cost: SimulationCost;
  /** The ids of executed steps that had no stub. */
  readonly stepsWithoutStub: readonly string[];
  readonly unusedStubs: readonly string[];
  /** Ignored inputs, in words. */
  readonly notes: readonly string[];
}

/** A step of the path. Times are milliseconds since the start of the run. */
export interface SimulatedStep {
  readonly step: string;
  readonly kind: string;
  readonly startedMs: number;
  readonly endedMs: number;
  readonly outcome: "completed" | "caught" | "failed" | "cancelled" | "open";
  readonly input: Json | undefined;
  readonly output: Json | undefined;
  readonly error: HistoryError | undefined;
  readonly arm: string;
  readonly attempts: number;
  readonly isDefault: boolean;
}

export interface SimulationCost {
  readonly steps: number;
  readonly commits: number;
  readonly expressionSteps: number;
  readonly tasks: number;
  readonly effects: number;
}

export const simulationLimits = { steps: 10_000, pathBytes: 2 * 1024 * 1024, expressionSteps: 5_000_000 } as const;
