import type { Json } from "../../../definitions/index.ts";
import type { EffectKind } from "./plan.ts";
import type { RunError } from "./state.ts";
import type { StepKey } from "./step-key.ts";

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

/** A task whose next attempt starts after a delay. */
export interface RetriedTask {
  readonly taskId: string;
  readonly attempt: number;
  readonly delayMs: number;
}

/** An effect to perform after the commit. Performing it twice under the same key and attempt has no further effect. */
export interface Effect {
  readonly key: StepKey;
  readonly attempt: number;
  readonly kind: EffectKind;
  readonly request: Json;
  readonly childId: string | undefined;
}

/** An event of the mailbox, and the step that consumed it. */
export interface ConsumedMail {
  readonly eventId: string;
  readonly key: StepKey;
}

export interface RunEnd {
  readonly status: "succeeded" | "failed" | "cancelled" | "timed_out";
  readonly output: Json;
  readonly error: RunError | undefined;
  /** The run that continues this one. */
  readonly next?: NextRun | undefined;
}

/** A run that continues another one with a new input. */
export interface NextRun {
  readonly id: string;
  readonly input: Json;
  readonly startAtMs: number;
}
