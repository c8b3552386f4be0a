import type { Json, JsonObject } from "../../../../../platform/document/index.ts";

export type { Json, JsonObject };

/** A parsed workflow definition. Durations are milliseconds, short forms are expanded, and templates are as written. */
export interface Definition {
  readonly dsl: "1";
  readonly key: string;
  readonly name: string;
  readonly description: string;
  readonly timeoutMs: number;
  /** A JSON Schema; undefined if any input is valid. */
  readonly inputSchema: JsonObject | undefined;
  readonly retry: RetryPolicy | undefined;
  readonly onFailure: "fail" | "compensate";
  readonly steps: readonly Step[];
  /** A template; undefined for the output of the last step. */
  readonly output: Json | undefined;
}

/** A step of a definition. */
export interface Step extends Retryable {
  readonly id: string;
  readonly work: Work;
  readonly catch: readonly Catch[];
  readonly compensate: Compensation | undefined;
}

/** How often a step is tried, and how long it may take. */
export interface Retryable {
  readonly retry: RetryPolicy | undefined;
  readonly timeout: StepTimeout;
}

/** What a step does. */
export type Work =
  | TaskWork
  | RouteWork
  | NotifyWork
  | ActionWork
  | ExperimentWork
  | SubworkflowWork
  | BranchWork
  | ParallelWork
  | MapWork
  | WaitEventWork
  | WaitTimerWork
  | ApprovalWork
  | TransformWork
  | FailWork
  | StreamAppendWork
  | StreamReadWork;

export interface TaskWork {
  readonly kind: "task";
  readonly queue: string;
  readonly type: string;
  /** A range of versions; empty if any version will do. */
  readonly version: string;
  /** The codes that workers may fail with. */
  readonly errors: readonly string[];
  /** A template: the worker's input. */
  readonly with: Json;
}

export interface RouteWork {
  readonly kind: "route";
  /** The name or the id of a pool. */
  readonly pool: string;
  /** Templates. Undefined ones are left out of the item. */
  readonly type: Json | undefined;
  readonly key: Json | undefined;
  readonly attributes: Json | undefined;
  readonly requirements: Json | undefined;
  readonly payload: Json | undefined;
  readonly priority: Json | undefined;
}

export interface NotifyWork {
  readonly kind: "notify";
  readonly workflowKey: string;
  /** Templates. */
  readonly to: Json;
  readonly channels: Json | undefined;
  readonly payload: Json | undefined;
}

export interface ActionWork {
  readonly kind: "action";
  /** The key of a connector action. */
  readonly action: string;
  /** A template: the id of a connection; undefined for providers without authentication. */
  readonly connection: Json | undefined;
  /** A template: the input. */
  readonly with: Json;
}

export interface ExperimentWork {
  readonly kind: "experiment";
  /** The key of an experiment of the run's environment. */
  readonly key: string;
  /** Templates. */
  readonly unit: Json;
  readonly attributes: Json | undefined;
  readonly covariates: Json | undefined;
}

export interface SubworkflowWork {
  readonly kind: "subworkflow";
  readonly key: string;
  /** Undefined: the active version when the step starts. */
  readonly version: number | undefined;
  /** A template. */
  readonly input: Json;
}

export interface BranchWork {
  readonly kind: "branch";
  readonly arms: readonly { readonly when: string; readonly steps: readonly Step[] }[];
  /** The arm that runs when no condition is true; undefined if there is none. */
  readonly otherwise: readonly Step[] | undefined;
}

export interface ParallelWork {
  readonly kind: "parallel";
  readonly branches: readonly { readonly name: string; readonly steps: readonly Step[] }[];
  readonly onError: "fail" | "collect";
}

export interface MapWork {
  readonly kind: "map";
  /** A template: the list. */
  readonly in: Json;
  readonly maxItems: number;
  readonly maxParallel: number;
  readonly onError: "fail" | "collect";
  readonly steps: readonly Step[];
}

export interface WaitEventWork {
  readonly kind: "wait_event";
  /** The events of which the first ends the wait. A scope is a template. */
  readonly any: readonly { readonly event: string; readonly scope: Json }[];
  readonly timeoutMs: number;
  readonly onTimeout: readonly Step[] | undefined;
  /** Whether the one event is written without `any`. Only the paths of violations depend on it. */
  readonly short?: boolean;
}

export interface WaitTimerWork {
  readonly kind: "wait_timer";
  /** Exactly one is present: a duration in milliseconds, or a template of a duration (for) or of a time (until). */
  readonly forMs: number | undefined;
  readonly for: string | undefined;
  readonly until: string | undefined;
}

export interface ApprovalWork {
  readonly kind: "approval";
  /** `role:` or `user:` with a name. */
  readonly by: readonly string[];
  readonly quorum: number;
  readonly timeoutMs: number;
  readonly onTimeout: readonly Step[] | undefined;
  /** Templates for the people who decide. */
  readonly title: Json;
  readonly details: Json;
  readonly commentRequired: boolean;
}

export interface TransformWork {
  readonly kind: "transform";
  /** A template. */
  readonly value: Json;
}

export interface FailWork {
  readonly kind: "fail";
  readonly code: string;
  /** A template. */
  readonly message: Json;
}

export interface StreamAppendWork {
  readonly kind: "stream_append";
  /** The name of a stream of the run. It is created if the run has none with this name. */
  readonly stream: string;
  /** A template: the payload. */
  readonly value: Json;
  /** Empty for the only class of the stream. */
  readonly contentClass: string;
  readonly schemaRef: string;
  /** The pins of a stream that is created; undefined for the defaults. */
  readonly pins: JsonObject | undefined;
}

export interface StreamReadWork {
  readonly kind: "stream_read";
  /** The name or the id of a stream of the run. */
  readonly stream: string;
  /** A template: only records with a greater sequence; undefined for all. */
  readonly cursor: Json | undefined;
  readonly limit: number;
}

/** Steps that run when their step fails with one of the codes; `*` is any code. */
export interface Catch {
  readonly on: readonly string[];
  readonly steps: readonly Step[];
}

/** A step that undoes another one. Its errors are never caught. */
export interface Compensation extends Retryable {
  readonly work: TaskWork | RouteWork | NotifyWork | ActionWork | SubworkflowWork;
}

export interface RetryPolicy {
  readonly maxAttempts: number;
  readonly initialMs: number;
  readonly factor: number;
  readonly maxMs: number;
  /** The codes that are retried; undefined for all that can be. */
  readonly on: readonly string[] | undefined;
}

/** The retry policy of steps without their own, when the definition has none. */
export const defaultRetry: RetryPolicy = { maxAttempts: 3, initialMs: 1000, factor: 2, maxMs: 60_000, on: undefined };

/** The limits of a step. Undefined: the default for its kind. */
export interface StepTimeout {
  readonly attemptMs: number | undefined;
  readonly totalMs: number | undefined;
  readonly heartbeatMs: number | undefined;
}
