import { isExpression, type Ref, refTo, sourceOf, toTemplate } from "./expression.ts";
import type { Block, Catch, StepPolicy, Steps } from "./steps.ts";
import type { Compensation } from "./work.ts";

type StepDocument = Record<string, unknown>;

/** Writes blocks of steps as parts of a document. All blocks of a document have one writer. */
export interface StepWriter {
  block<Returned>(write: (steps: Steps) => Returned): {
    readonly steps: readonly StepDocument[];
    readonly returned: Returned;
  };
}

type AnyBlock = Block<never, never>;

const idPattern = /^[a-z][A-Za-z0-9_]{0,63}$/;

/** Creates the writer of a document. */
export function createStepWriter(): StepWriter {
  const ids = new Set<string>();

  function claim(id: string): void {
    if (!idPattern.test(id)) {
      throw new TypeError(`${id} is not a step id: use a lower-case letter, then letters, digits and underscores`);
    }
    if (ids.has(id)) throw new TypeError(`two steps have the id ${id}: ids are unique in the whole definition`);
    ids.add(id);
  }

  /** Writes a block inside a step, whose output is that of its last step. */
  function inner(write: AnyBlock, scope?: unknown): readonly StepDocument[] {
    const { steps, returned } = block((nested) => write(nested, scope as never) as unknown);
    const last = `steps.${steps.at(-1)?.id}`;
    if (returned !== undefined && !(isExpression(returned) && sourceOf(returned) === last)) {
      throw new TypeError("a block must return the output of its last step, or nothing; end it with a transform step");
    }
    return steps;
  }

  function block<Returned>(write: (steps: Steps) => Returned) {
    const steps: StepDocument[] = [];
    const returned = write(createSteps(steps));
    return { steps, returned };
  }

  function createSteps(steps: StepDocument[]): Steps {
    function add<Output>(id: string, work: () => object, policy: StepPolicy<Output> = {}): Ref<Output> {
      claim(id);
      const output = refTo<Output>(`steps.${id}`);
      const step: StepDocument = { id };
      steps.push(step);
      Object.assign(step, work(), policyOf(policy, output));
      return output;
    }

    return {
      task: (id, { with: input, ...task }, policy) => add(id, () => withInput("task", task, input), policy),
      action: (id, { with: input, ...action }, policy) => add(id, () => withInput("action", action, input), policy),
      route: (id, route, policy) => add(id, () => ({ route: toTemplate(route) }), policy),
      notify: (id, notify, policy) => add(id, () => ({ notify: toTemplate(notify) }), policy),
      experiment: (id, experiment, policy) => add(id, () => ({ experiment: toTemplate(experiment) }), policy),
      subworkflow: (id, subworkflow, policy) => add(id, () => ({ subworkflow: toTemplate(subworkflow) }), policy),
      streamAppend: (id, append, policy) => add(id, () => ({ stream_append: toTemplate(append) }), policy),
      streamRead: (id, read, policy) => add(id, () => ({ stream_read: toTemplate(read) }), policy),
      transform: (id, template, policy) => add(id, () => ({ transform: toTemplate(template) }), policy),
      waitTimer: (id, timer) => add(id, () => ({ wait_timer: toTemplate(timer) })),
      continueAsNew(id, input) {
        add(id, () => ({ continue_as_new: { input: toTemplate(input) } }));
      },
      fail(id, error) {
        add(id, () => ({ fail: toTemplate(error) }));
      },
      branch: (id, arms, otherwise, policy) => add(id, () => ({ branch: armsOf(arms, otherwise) }), policy),
      parallel: (id, branches, policy) => add(id, () => ({ parallel: { branches: branchesOf(branches) } }), policy),
      parallelCollect: (id, branches) =>
        add(id, () => ({ parallel: { branches: branchesOf(branches), on_error: "collect" } })),
      map: (id, list, write, policy) => add(id, () => ({ map: mapOf(list, write) }), policy),
      mapCollect: (id, list, write) => add(id, () => ({ map: { ...mapOf(list, write), on_error: "collect" } })),
      waitEvent: (id, wait, onTimeout, policy) => add(id, () => ({ wait_event: waitOf(wait, onTimeout) }), policy),
      waitUpdate: (id, { input_schema, when, answer, ...wait }, onTimeout, policy) =>
        add(
          id,
          () => ({
            wait_event: {
              ...waitOf(wait, onTimeout),
              update: {
                ...(input_schema && { input_schema }),
                ...(when && { when: toTemplate(when(refTo("update"))) }),
                ...(answer && { answer }),
              },
            },
          }),
          policy,
        ),
      approval: (id, approval, onTimeout, policy) => add(id, () => ({ approval: waitOf(approval, onTimeout) }), policy),
    };
  }

  function armsOf(
    arms: readonly { readonly when: unknown; readonly steps: AnyBlock }[],
    otherwise: AnyBlock | undefined,
  ): readonly object[] {
    const written = arms.map(({ when, steps }) => ({ when: toTemplate(when), steps: inner(steps) }));
    return otherwise === undefined ? written : [...written, { else: inner(otherwise) }];
  }

  function branchesOf(branches: Readonly<Record<string, AnyBlock>>): object {
    return Object.fromEntries(Object.entries(branches).map(([name, write]) => [name, inner(write)]));
  }

  function mapOf(list: object, write: AnyBlock): object {
    const steps = inner(write, { item: refTo("item"), index: refTo("index") });
    return { ...(toTemplate(list) as object), steps };
  }

  function waitOf(wait: object, onTimeout: AnyBlock | undefined): object {
    return { ...(toTemplate(wait) as object), ...(onTimeout && { on_timeout: inner(onTimeout) }) };
  }

  function policyOf<Output>(policy: StepPolicy<Output>, output: Ref<Output>): object {
    const { retry, timeout, catch: caught, compensate } = policy;
    return {
      ...(retry && { retry }),
      ...(timeout && { timeout }),
      ...(caught && { catch: caught.map(catchOf) }),
      ...(compensate && { compensate: compensationOf(compensate(output)) }),
    };
  }

  function catchOf<Output>({ on, steps }: Catch<Output>): object {
    return { on, steps: inner(steps as AnyBlock, { err: refTo("err") }) };
  }

  return { block };
}

function withInput(kind: "task" | "action", work: object, input: unknown): object {
  return { [kind]: toTemplate(work), ...(input !== undefined && { with: toTemplate(input) }) };
}

function compensationOf({ retry, timeout, ...work }: Compensation): object {
  const [[kind, { with: input, ...spec }]] = Object.entries(work) as [[string, { with?: unknown }]];
  return {
    [kind]: toTemplate(spec),
    ...(input !== undefined && { with: toTemplate(input) }),
    ...(retry && { retry }),
    ...(timeout && { timeout }),
  };
}
