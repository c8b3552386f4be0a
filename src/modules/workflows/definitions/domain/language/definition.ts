import type { Json, JsonObject } from "../../../../../platform/document/index.ts";
import {
  choice,
  constant,
  defineObject,
  described,
  type Member,
  prose,
  text,
  type ValueOf,
} from "../../../../../platform/json-schema/index.ts";
import { formats, limits } from "./limits.ts";
import { inputSchema, requiredDuration, stepsSchema, template } from "./members.ts";
import { retry } from "./policy.ts";
import type { Step, WorkContext, WorkOf } from "./work.ts";

export { defaultRetry, type RetryPolicy, type StepTimeout } from "./policy.ts";
export type { Catch, Compensation, Retryable, Step, Work } from "./work.ts";
export type { Json, JsonObject };

export type ApprovalWork = WorkOf<"approval">;
export type BranchWork = WorkOf<"branch">;
export type MapWork = WorkOf<"map">;
export type ParallelWork = WorkOf<"parallel">;
export type StreamAppendWork = WorkOf<"stream_append">;
export type StreamReadWork = WorkOf<"stream_read">;
export type WaitEventWork = WorkOf<"wait_event">;
export type WaitTimerWork = WorkOf<"wait_timer">;

/** An example of a list of steps. */
export const stepsExample = '[{"id": "score", "task": {"queue": "ml", "type": "lead.score"}}]';

const steps: Member<readonly Step[], Pick<WorkContext, "violations" | "steps">> = {
  ...{ name: "steps", schema: { ...stepsSchema, minItems: 1 }, isRequired: true },
  read(reader, context) {
    const value = reader.required("steps", stepsExample);
    if (value === undefined) return [];
    if (Array.isArray(value) && value.length === 0) {
      reader.refuse("steps", "list", `must have at least one step, for example ${stepsExample}`);
    }
    return context.steps(value, "steps");
  },
};

const example = `{"dsl": "1", "key": "lead.onboard", "timeout": "1d", "steps": ${stepsExample}}`;

/** The language: a document and its members. */
export const definitionObject = defineObject("a definition", example, {
  dsl: described(constant("dsl", "1", 'must be the text "1" (in quotes)'), "The version of the language."),
  key: described(text("key", formats.key), "The key of the definition."),
  name: prose("name", limits.nameLength),
  description: prose("description", limits.descriptionLength),
  timeoutMs: described(requiredDuration("timeout", "14d"), "The longest time that a run may take, at most 365d."),
  inputSchema,
  retry,
  onFailure: choice("on_failure", ["fail", "compensate"], "fail"),
  steps,
  /** A template; undefined for the output of the last step. */
  output: described(template("output"), "The output of the run. Default: the output of the last step."),
});

/** A parsed workflow definition. Durations are milliseconds, short forms are expanded, and templates are as written. */
export type Definition = ValueOf<typeof definitionObject>;
