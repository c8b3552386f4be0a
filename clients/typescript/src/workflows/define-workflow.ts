import type { StartWorkflowRunRequest } from "../gen/workflow-run.ts";
import { type Ref, refTo, toTemplate } from "./expression.ts";
import { createStepWriter } from "./step-writer.ts";
import type { Steps } from "./steps.ts";
import type { Duration, RetryPolicy } from "./work.ts";

/** A workflow definition. */
export interface Workflow<Input> {
  readonly key: string;
  /** The document, for `client.workflowDefinitions`. */
  readonly document: object;
  /** The request that starts a run, for `client.workflowRuns.start`. */
  run(input: Input, options?: Omit<StartWorkflowRunRequest, "definition" | "input">): StartWorkflowRunRequest;
}

/** The parts of a definition besides its steps. */
export interface WorkflowOptions {
  readonly key: string;
  readonly name?: string;
  readonly description?: string;
  /** The longest time that a run may take. */
  readonly timeout: Duration;
  /** A JSON Schema that the input must match. */
  readonly input_schema?: object;
  /** The retry policy of steps that have none. */
  readonly retry?: RetryPolicy;
  /** Whether the completed steps of a run that fails are compensated. */
  readonly on_failure?: "fail" | "compensate";
}

/** The values of a run that expressions can read besides the outputs of steps. */
export interface WorkflowScope<Input> {
  readonly input: Ref<Input>;
  readonly run: Ref<{
    readonly id: string;
    readonly key: string;
    readonly definition: string;
    readonly version: number;
    readonly environment: string;
    readonly started_at: string;
  }>;
}

/**
 * Defines a workflow in code. `write` adds the steps and returns a template for the output of the run, or nothing for the
 * output of the last step. Publishing the document checks it.
 */
export function defineWorkflow<Input>(
  { input_schema, ...options }: WorkflowOptions,
  write: (steps: Steps, scope: WorkflowScope<Input>) => unknown,
): Workflow<Input> {
  const writer = createStepWriter();
  const { steps, returned: output } = writer.block((block) =>
    write(block, { input: refTo("input"), run: refTo("run") }),
  );
  const document = {
    ...{ dsl: "1", ...options, ...(input_schema && { input_schema }), steps },
    ...(output !== undefined && { output: toTemplate(output) }),
  };
  return {
    key: options.key,
    document,
    run: (input, start) => ({ ...start, definition: options.key, input }),
  };
}
