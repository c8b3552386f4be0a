import { isExpression } from "../../../../../platform/cel/index.ts";
import type { Definition, Json, Work } from "./definition.ts";
import { stepsOf } from "./step-tree.ts";

/** A definition that another one runs; without a version, its active one. */
export interface SubworkflowCall {
  readonly key: string;
  readonly version: number | undefined;
}

/** A name in a definition that must exist in the tenant, with its path. */
export interface Reference<T> {
  readonly path: string;
  readonly target: T;
}

/** A template, with its path. */
export interface PlacedInput {
  readonly value: Json;
  readonly path: string;
}

/** The key of a connector action, with the template of its input. */
export interface ActionReference extends Reference<string> {
  readonly input: PlacedInput;
  /** Whether the action compensates a step. */
  readonly isCompensation: boolean;
}

/** A definition that a step runs, with the template of its input. */
export interface SubworkflowReference extends Reference<SubworkflowCall> {
  readonly input: PlacedInput;
}

/** A connection that an action step names by its id, with the provider of the action. */
export interface NamedConnection {
  readonly id: string;
  readonly providerKey: string;
}

/** External references of a definition. */
export interface References {
  readonly pools: readonly Reference<string>[];
  readonly notificationWorkflows: readonly Reference<string>[];
  readonly experiments: readonly Reference<string>[];
  readonly actions: readonly ActionReference[];
  /** Expressions are not included: their values are known only in a run. */
  readonly connections: readonly Reference<NamedConnection>[];
  readonly subworkflows: readonly SubworkflowReference[];
}

/** Collects the references of a definition, in document order. */
export function referencesOf(definition: Definition): References {
  const references = {
    pools: [] as Reference<string>[],
    notificationWorkflows: [] as Reference<string>[],
    experiments: [] as Reference<string>[],
    actions: [] as ActionReference[],
    connections: [] as Reference<NamedConnection>[],
    subworkflows: [] as SubworkflowReference[],
  };
  const collect = (work: Work, path: string, isCompensation: boolean) => {
    if (work.kind === "route") references.pools.push({ path: `${path}.route.pool`, target: work.pool });
    if (work.kind === "notify") {
      references.notificationWorkflows.push({ path: `${path}.notify.workflow_key`, target: work.workflowKey });
    }
    if (work.kind === "experiment") {
      references.experiments.push({ path: `${path}.experiment.key`, target: work.key });
    }
    if (work.kind === "action") {
      const { action, connection: id } = work;
      const input = { value: work.with, path: `${path}.with` };
      references.actions.push({ path: `${path}.action.action`, target: action, input, isCompensation });
      if (typeof id === "string" && id !== "" && !isExpression(id)) {
        const target = { id, providerKey: providerOf(action) };
        references.connections.push({ path: `${path}.action.connection`, target });
      }
    }
    if (work.kind === "subworkflow") {
      const { key, version } = work;
      const input = { value: work.input, path: `${path}.subworkflow.input` };
      references.subworkflows.push({ path: `${path}.subworkflow`, target: { key, version }, input });
    }
  };
  for (const { step, path } of stepsOf(definition)) {
    collect(step.work, path, false);
    if (step.compensate !== undefined) collect(step.compensate.work, `${path}.compensate`, true);
  }
  return references;
}

/** The provider of a connector action: the part of its key before the first dot. */
export function providerOf(actionKey: string): string {
  return actionKey.slice(0, actionKey.indexOf("."));
}

/** The definitions that a definition runs, each once. */
export function callsOf(definition: Definition): readonly SubworkflowCall[] {
  const calls = new Map(referencesOf(definition).subworkflows.map(({ target }) => [callName(target), target]));
  return [...calls.values()];
}

/** The name of a call: the key, and the version if there is one. */
export function callName({ key, version }: SubworkflowCall): string {
  return version === undefined ? key : `${key}@${version}`;
}
