import { unreachable } from "../../../../../errors/index.ts";
import { memberPath } from "../../../../../platform/document/index.ts";
import type { Definition, MapWork, Step } from "./definition.ts";

/** A list of steps inside a step. */
export interface Block {
  readonly steps: readonly Step[];
  /** The path of the list in the document. */
  readonly path: string;
  /** body: what the step does. timeout: what it does after its time-out. catch: what happens when it fails. */
  readonly role: "body" | "timeout" | "catch";
}

/** The lists of steps inside a step, in document order. */
export function blocksOf(step: Step, path: string): readonly Block[] {
  const caught = step.catch.map(
    ({ steps }, at): Block => ({ steps, path: `${path}.catch[${at}].steps`, role: "catch" }),
  );
  return [...workBlocks(step, path), ...caught];
}

function workBlocks({ work }: Step, path: string): readonly Block[] {
  switch (work.kind) {
    case "branch": {
      const arms = work.arms.map(
        ({ steps }, at): Block => ({ steps, path: `${path}.branch[${at}].steps`, role: "body" }),
      );
      if (work.otherwise === undefined) return arms;
      return [...arms, { steps: work.otherwise, path: `${path}.branch[${work.arms.length}].else`, role: "body" }];
    }
    case "parallel":
      return work.branches.map(({ name, steps }): Block => {
        return { steps, path: memberPath(`${path}.parallel.branches`, name), role: "body" };
      });
    case "map":
      return [{ steps: work.steps, path: `${path}.map.steps`, role: "body" }];
    case "wait_event":
    case "approval":
      if (work.onTimeout === undefined) return [];
      return [{ steps: work.onTimeout, path: `${path}.${work.kind}.on_timeout`, role: "timeout" }];
    case "task":
    case "route":
    case "notify":
    case "action":
    case "subworkflow":
    case "wait_timer":
    case "transform":
    case "fail":
    case "continue_as_new":
    case "experiment":
    case "stream_append":
    case "stream_read":
      return [];
    default:
      return unreachable(work);
  }
}

/**
 * Values that a step's expressions can read.
 *
 * A scope refers to the list of its step and to the scope of the step around that list, so all scopes of a definition
 * together take space in proportion to its steps.
 */
export class StepScope {
  /** The scope of the step that contains this one; undefined at the top. */
  readonly parent: StepScope | undefined;
  /** The step that contains this one; undefined at the top. */
  readonly container: Step | undefined;
  /** The part of that step that this one is in. */
  readonly role: Block["role"];
  /** The positions of the steps of its list; the same object for all steps of a list. */
  readonly list: ReadonlyMap<string, number>;
  readonly #position: number;

  constructor(
    parent: StepScope | undefined,
    container: Step | undefined,
    role: Block["role"],
    list: ReadonlyMap<string, number>,
    position: number,
  ) {
    this.parent = parent;
    this.container = container;
    this.role = role;
    this.list = list;
    this.#position = position;
  }

  /** The map that runs this step for each element; undefined if another step contains it, or none. */
  get map(): MapWork | undefined {
    const work = this.role === "body" ? this.container?.work : undefined;
    return work?.kind === "map" ? work : undefined;
  }

  /** Whether `item` and `index` exist. */
  get hasItem(): boolean {
    return this.map !== undefined || (this.parent?.hasItem ?? false);
  }

  /** Whether `err` exists. */
  get hasError(): boolean {
    return this.role === "catch" || (this.parent?.hasError ?? false);
  }

  /**
   * Whether the output of a step is visible: it comes before this step, or before a step that contains this one. The
   * `compensate` of a step also reads the output of the step itself.
   */
  sees(id: string): boolean {
    const position = this.list.get(id);
    if (position !== undefined && position < this.#position) return true;
    return this.parent?.sees(id) ?? false;
  }

  /** Whether other steps may be in progress at the same time. */
  get isConcurrent(): boolean {
    const { kind } = this.container?.work ?? {};
    return (this.role === "body" && (kind === "parallel" || kind === "map")) || (this.parent?.isConcurrent ?? false);
  }

  /** Whether a step certainly runs after this one, unless something fails. */
  leadsTo(id: string): boolean {
    const position = this.list.get(id);
    if (position !== undefined && position > this.#position) return true;
    return this.parent?.leadsTo(id) ?? false;
  }

  /** The ids of all visible steps, outermost and first ones first. */
  visibleIds(): readonly string[] {
    const own = [...this.list].flatMap(([id, position]) => (position < this.#position ? [id] : []));
    return [...(this.parent?.visibleIds() ?? []), ...own];
  }
}

/** A step with its place in the document. */
export interface PlacedStep {
  readonly step: Step;
  readonly path: string;
  readonly scope: StepScope;
}

/** All steps of a definition in document order, with their paths and scopes. */
export function* stepsOf({ steps }: Pick<Definition, "steps">): Generator<PlacedStep> {
  yield* listSteps({ steps, path: "steps", role: "body" }, undefined, undefined);
}

function* listSteps(
  { steps, path, role }: Block,
  parent: StepScope | undefined,
  container: Step | undefined,
): Generator<PlacedStep> {
  const positions = positionsOf(steps);
  for (const [at, step] of steps.entries()) {
    const scope = new StepScope(parent, container, role, positions, at);
    const stepPath = `${path}[${at}]`;
    yield { step, path: stepPath, scope };
    for (const block of blocksOf(step, stepPath)) yield* listSteps(block, scope, step);
  }
}

/** The first position of each id. */
function positionsOf(steps: readonly Step[]): ReadonlyMap<string, number> {
  const positions = new Map<string, number>();
  for (const [at, { id }] of steps.entries()) if (!positions.has(id)) positions.set(id, at);
  return positions;
}

/** Returns the scope of a definition's output: all steps of the top level. */
export function outputScope({ steps }: Pick<Definition, "steps">): StepScope {
  return new StepScope(undefined, undefined, "body", positionsOf(steps), steps.length);
}
