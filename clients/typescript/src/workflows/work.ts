import type { JsonObject, JsonValue } from "../json.ts";
import type { Expression, Ref, Template } from "./expression.ts";

/** A whole number and a unit: `500ms`, `30s`, `10m`, `2h`, `7d`. */
export type Duration = `${number}${"ms" | "s" | "m" | "h" | "d"}`;

/** How often a step is tried. */
export interface RetryPolicy {
  readonly max_attempts?: number;
  readonly initial?: Duration;
  readonly factor?: number;
  readonly max?: Duration;
  /** The codes that are retried. */
  readonly on?: readonly string[];
}

/** How long a step may take. `attempt` and `heartbeat` are for tasks. */
export interface StepTimeout {
  readonly attempt?: Duration;
  readonly total?: Duration;
  readonly heartbeat?: Duration;
}

/** Hands work to an external worker. */
export interface Task<Code extends string = string> {
  readonly queue: string;
  readonly type: string;
  /** The range of versions that workers must implement, such as ">=2 <3". */
  readonly version?: string;
  /** The codes that workers may fail with. */
  readonly errors?: readonly Code[];
  /** The input. */
  readonly with?: unknown;
}

/** Routes a work item into a pool. */
export interface Route {
  /** The name or the id of the pool. */
  readonly pool: string;
  readonly type?: Template<string>;
  readonly key?: Template<string>;
  readonly attributes?: unknown;
  readonly requirements?: unknown;
  readonly payload?: unknown;
  readonly priority?: Template<number>;
}

/** Triggers a notification. */
export interface Notify {
  readonly workflow_key: string;
  readonly to: Template<string | { readonly [kind: string]: string }>;
  readonly channels?: Template<readonly string[]>;
  readonly payload?: unknown;
}

/** Executes a connector action. */
export interface Action {
  readonly action: string;
  readonly connection?: Template<string>;
  /** The input. */
  readonly with?: unknown;
}

/** Assigns a unit to a variant of an experiment. */
export interface Experiment {
  readonly key: string;
  readonly unit: Template<string>;
  readonly attributes?: unknown;
  readonly covariates?: unknown;
}

/** Runs another definition. */
export interface Subworkflow {
  readonly key: string;
  readonly version?: number;
  readonly input?: unknown;
}

/** An event that a step waits for. */
export interface AwaitedEvent {
  readonly event: string;
  readonly scope?: Template<string | number | boolean>;
}

/** Waits for an update: a call that is checked, applied and answered. */
export interface AwaitedUpdate<Payload> extends AwaitedEvent {
  readonly timeout: Duration;
  /** A JSON Schema of the payload. */
  readonly input_schema?: object;
  /** Whether the update is accepted. */
  readonly when?: (update: Ref<Payload>) => Template<boolean>;
  /** The id of a later step, whose output answers the caller. */
  readonly answer?: string;
}

/** Waits for people to approve. */
export interface Approval {
  /** Who may decide: `role:…` or `user:…`. */
  readonly by: readonly (`role:${string}` | `user:${string}`)[];
  readonly quorum?: number;
  readonly timeout: Duration;
  readonly title?: Template<string>;
  readonly details?: unknown;
  readonly comment?: "required" | "optional";
}

/** Waits for a duration or until a time. */
export type Timer =
  | { readonly for: Duration | Expression<string | number> }
  | { readonly until: string | Date | Expression<unknown> };

/** Appends a record to a data stream of the run. */
export interface StreamAppend {
  readonly stream: string;
  readonly value: unknown;
  readonly content_class?: string;
  readonly schema_ref?: string;
  readonly pins?: object;
}

/** Reads records of a data stream of the run. */
export interface StreamRead {
  readonly stream: string;
  readonly cursor?: Template<number>;
  readonly limit?: number;
}

/** Undoes a step. */
export type Compensation = { readonly retry?: RetryPolicy; readonly timeout?: StepTimeout } & (
  | { readonly task: Task }
  | { readonly route: Route }
  | { readonly notify: Notify }
  | { readonly action: Action }
  | { readonly subworkflow: Subworkflow }
);

/** An error that a `catch` handles. */
export interface StepError {
  readonly code: string;
  readonly message: string;
  readonly step: string;
  readonly details: JsonValue;
}

/** The outputs of the kinds whose output the service determines. */
export interface Outputs {
  readonly route: {
    readonly decision_id: string;
    readonly outcome: string;
    readonly recipient_id: string;
    readonly queue_item_id: string;
  };
  readonly notify: { readonly transaction_id: string; readonly outcomes: readonly JsonValue[] };
  readonly experiment: {
    readonly variant: string;
    readonly value: JsonValue;
    readonly in_experiment: boolean;
    readonly reason: string;
    readonly receipt: string;
  };
  readonly approval: { readonly approved: true; readonly decisions: readonly JsonObject[] };
  readonly stream_append: { readonly stream: string; readonly sequence: number };
  readonly stream_read: {
    readonly records: readonly JsonObject[];
    readonly next_cursor: number;
    readonly latest_sequence: number;
    readonly closed: boolean;
  };
}

/** An event that a step has received. */
export interface ReceivedEvent<Payload> {
  readonly event: string;
  readonly scope: string;
  readonly payload: Payload;
  readonly event_id: string;
}

/** The result of a part whose error is collected. */
export interface Collected<Value> {
  readonly ok: boolean;
  readonly value: Value;
  readonly error: { readonly code: string; readonly message: string };
}
