import type { Json, JsonObject } from "../../src/modules/workflows/definitions/domain/language/definition.ts";

/** Everything from outside that a run meets. Times are virtual: milliseconds since the start of the run. */
export interface Script {
  readonly input: Json;
  /** The variable `run`, without `started_at`. */
  readonly run: JsonObject;
  /** The wall-clock time of the start. */
  readonly startedAtMs: number;
  /**
   * The result of an attempt (from 1) of a task, route, notify or subworkflow step, or of a compensation (`~` and the
   * step key). Undefined: it never ends.
   */
  attempt(stepKey: string, attempt: number): Attempt | undefined;
  /** The events that are sent to the run, in any order. */
  readonly events: readonly ScriptedEvent[];
  /** The decisions about an approval step. */
  decisions(stepKey: string): readonly Decision[];
  /** When the run is cancelled; undefined if it is not. */
  readonly cancel: { readonly atMs: number; readonly compensate: boolean } | undefined;
}

/** What happens in an attempt. */
export type Attempt = {
  /** The time from the start of the attempt to its end. */
  readonly afterMs: number;
  /** The time until a worker takes the task; 0 if undefined. It counts for `timeout.total` and not for `timeout.attempt`. */
  readonly queuedMs?: number;
} & (
  | { readonly output: Json }
  | {
      /** Empty if a worker gives no code. */
      readonly code: string;
      readonly message?: string;
      readonly details?: Json;
      /** True if undefined. */
      readonly retryable?: boolean;
    }
);

export interface ScriptedEvent {
  readonly atMs: number;
  readonly event: string;
  readonly scope: string;
  readonly payload: Json;
  readonly eventId: string;
}

/** A person's decision. One that the person may not make changes nothing. */
export interface Decision {
  /** The time from the start of the step. */
  readonly afterMs: number;
  readonly user: string;
  readonly roles: readonly string[];
  readonly approved: boolean;
  readonly comment: string;
}
