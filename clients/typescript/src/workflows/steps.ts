import type { JsonValue } from "../json.ts";
import type { Expression, Ref } from "./expression.ts";
import type {
  Action,
  Approval,
  AwaitedEvent,
  AwaitedUpdate,
  Collected,
  Compensation,
  Duration,
  Experiment,
  Notify,
  Outputs,
  ReceivedEvent,
  RetryPolicy,
  Route,
  StepError,
  StepTimeout,
  StreamAppend,
  StreamRead,
  Subworkflow,
  Task,
  Timer,
} from "./work.ts";

/**
 * Writes the steps of a block. The output of a block is that of its last step: return it to give it a type, or return
 * nothing.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a function without a return statement is a block without an output.
export type Block<Output, Scope = undefined> = (steps: Steps, scope: Scope) => Ref<Output> | void;

/** What handles the errors of a step. */
export interface Catch<Output> {
  /** The codes, or "*" for all. */
  readonly on: readonly string[];
  readonly steps: Block<Output, { readonly err: Ref<StepError> }>;
}

/** How a step is tried, handled and undone. */
export interface StepPolicy<Output> {
  readonly retry?: RetryPolicy;
  readonly timeout?: StepTimeout;
  readonly catch?: readonly Catch<Output>[];
  readonly compensate?: (output: Ref<Output>) => Compensation;
}

/** Handles the errors of a block. */
export type BlockPolicy<Output> = Pick<StepPolicy<Output>, "catch">;

type Branches = Readonly<Record<string, Block<never>>>;
type OutputOf<Each> = Each extends Block<infer Output> ? Output : never;

/** Adds steps to a block, in order. Each method returns the output of its step, for the expressions of later ones. */
export interface Steps {
  /** Hands work to an external worker. */
  task<Output = JsonValue>(id: string, task: Task, policy?: StepPolicy<Output>): Ref<Output>;
  /** Routes a work item into a pool. */
  route(id: string, route: Route, policy?: StepPolicy<Outputs["route"]>): Ref<Outputs["route"]>;
  /** Triggers a notification. */
  notify(id: string, notify: Notify, policy?: StepPolicy<Outputs["notify"]>): Ref<Outputs["notify"]>;
  /** Executes a connector action. */
  action<Output = JsonValue>(id: string, action: Action, policy?: StepPolicy<Output>): Ref<Output>;
  /** Assigns a unit to a variant of an experiment. */
  experiment(
    id: string,
    experiment: Experiment,
    policy?: StepPolicy<Outputs["experiment"]>,
  ): Ref<Outputs["experiment"]>;
  /** Runs another definition and waits for its end. */
  subworkflow<Output = JsonValue>(id: string, subworkflow: Subworkflow, policy?: StepPolicy<Output>): Ref<Output>;
  /** Runs the first arm whose condition is true, or `otherwise`. */
  branch<Output>(
    id: string,
    arms: readonly { readonly when: Expression<unknown>; readonly steps: Block<Output> }[],
    otherwise?: Block<Output>,
    policy?: BlockPolicy<Output>,
  ): Ref<Output>;
  /** Runs branches at the same time. The first error cancels the others. */
  parallel<Each extends Branches>(
    id: string,
    branches: Each,
    policy?: BlockPolicy<{ readonly [Name in keyof Each]: OutputOf<Each[Name]> }>,
  ): Ref<{ readonly [Name in keyof Each]: OutputOf<Each[Name]> }>;
  /** Runs branches at the same time, all of them to their end. */
  parallelCollect<Each extends Branches>(
    id: string,
    branches: Each,
  ): Ref<{ readonly [Name in keyof Each]: Collected<OutputOf<Each[Name]>> }>;
  /** Runs steps for each element of a list. The first error cancels the others. */
  map<Element, Output>(
    id: string,
    list: MapList<Element>,
    steps: Block<Output, MapScope<Element>>,
    policy?: BlockPolicy<readonly Output[]>,
  ): Ref<readonly Output[]>;
  /** Runs steps for each element of a list, all of them to their end. */
  mapCollect<Element, Output>(
    id: string,
    list: MapList<Element>,
    steps: Block<Output, MapScope<Element>>,
  ): Ref<readonly Collected<Output>[]>;
  /** Waits for the first of these events that is sent to the run. */
  waitEvent<Payload = JsonValue>(
    id: string,
    wait: { readonly any: readonly AwaitedEvent[]; readonly timeout: Duration },
    onTimeout?: Block<ReceivedEvent<Payload>>,
    policy?: BlockPolicy<ReceivedEvent<Payload>>,
  ): Ref<ReceivedEvent<Payload>>;
  /** Waits for an update of the run. */
  waitUpdate<Payload = JsonValue>(
    id: string,
    wait: AwaitedUpdate<Payload>,
    onTimeout?: Block<ReceivedEvent<Payload>>,
    policy?: BlockPolicy<ReceivedEvent<Payload>>,
  ): Ref<ReceivedEvent<Payload>>;
  waitTimer(id: string, timer: Timer): Ref<null>;
  /** Waits for people to approve. */
  approval(
    id: string,
    approval: Approval,
    onTimeout?: Block<Outputs["approval"]>,
    policy?: BlockPolicy<Outputs["approval"]>,
  ): Ref<Outputs["approval"]>;
  /** Evaluates a template. */
  transform<Output = JsonValue>(id: string, template: unknown, policy?: BlockPolicy<Output>): Ref<Output>;
  /** Fails with a code of your own. */
  fail(id: string, error: { readonly code: string; readonly message?: unknown }): void;
  /** Ends the run and continues its work in a new one with this input. */
  continueAsNew(id: string, input: unknown): void;
  /** Appends a record to a data stream of the run. */
  streamAppend(
    id: string,
    append: StreamAppend,
    policy?: StepPolicy<Outputs["stream_append"]>,
  ): Ref<Outputs["stream_append"]>;
  /** Reads records of a data stream of the run. */
  streamRead(id: string, read: StreamRead, policy?: StepPolicy<Outputs["stream_read"]>): Ref<Outputs["stream_read"]>;
}

export interface MapList<Element> {
  readonly in: Expression<readonly Element[]> | readonly Element[];
  /** The most elements that the list may have. */
  readonly max_items: number;
  /** The most elements in progress at a time; default 10. */
  readonly max_parallel?: number;
}

/** What the steps of a map can read. */
export interface MapScope<Element> {
  readonly item: Ref<Element>;
  readonly index: Ref<number>;
}
