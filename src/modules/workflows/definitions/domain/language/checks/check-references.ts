import type { Violations } from "../../../../../../platform/document/index.ts";
import { checkValue } from "../../../../../../platform/json-schema/index.ts";
import { nearestName } from "../../../../../../platform/text/index.ts";
import type { Definition, Json, JsonObject } from "../definition.ts";
import { callName, type PlacedInput, referencesOf, type SubworkflowCall } from "../references.ts";

/** A connector action that the tenant can execute. */
export interface UsableAction {
  readonly inputSchema: JsonObject;
  /** Whether it can be sent again after an unknown outcome. */
  readonly isRepeatable: boolean;
}

/** Lookups of the tenant's records that a definition refers to. */
export interface DefinitionLookups {
  /** Whether a pool that is not archived has this name or id, in any environment. */
  hasPool(nameOrId: string): boolean;
  hasNotificationWorkflow(key: string): boolean;
  /** Whether an experiment has this key, in any environment. */
  hasExperiment(key: string): boolean;
  /** A connector action that the tenant can execute, or why it cannot. */
  actionUse(key: string): "absent" | { readonly reason: string } | UsableAction;
  /** The state of another definition; `absent` if no definition that is not archived has the key. */
  definitionState(key: string): "absent" | "unpublished" | "published";
  /** The calls of a published version of another definition, or of its active one; undefined if it does not exist. */
  callsOf(call: SubworkflowCall): readonly SubworkflowCall[] | undefined;
  /** The input schema of a published version, or of the active one; undefined if it accepts every input. */
  inputSchemaOf(call: SubworkflowCall): JsonObject | undefined;
  /** Keys of definitions, for suggestions. */
  readonly knownKeys: readonly string[];
}

// The search for a suggestion among a thousand keys takes milliseconds.
const suggestionsMax = 3;

/**
 * Reports records that do not exist or cannot be used, inputs that actions and subworkflows refuse, compensations that
 * cannot be repeated, and subworkflows that lead back here.
 */
export function checkReferences(definition: Definition, lookups: DefinitionLookups, violations: Violations): void {
  const { pools, notificationWorkflows, experiments, actions, subworkflows } = referencesOf(definition);
  for (const { path, target } of pools) {
    if (lookups.hasPool(target)) continue;
    const message = `no environment has a pool with the name or id "${target}" that is not archived: create it or name another`;
    violations.add(path, "missing_pool", message);
  }
  for (const { path, target } of notificationWorkflows) {
    if (lookups.hasNotificationWorkflow(target)) continue;
    const message = `there is no notification workflow "${target}": create it or name another`;
    violations.add(path, "missing_notification_workflow", message);
  }
  for (const { path, target } of experiments) {
    if (lookups.hasExperiment(target)) continue;
    const message = `no environment has an experiment with the key "${target}": create it or name another`;
    violations.add(path, "missing_experiment", message);
  }
  for (const { path, target, input, isCompensation } of actions) {
    const use = lookups.actionUse(target);
    if (use === "absent") {
      violations.add(path, "missing_action", `there is no action "${target}": list the actions, or add its manifest`);
    } else if ("reason" in use) {
      violations.add(path, "not_executable", `the action cannot be executed: ${use.reason}`);
    } else {
      checkInput(use.inputSchema, input, "the schema of the action's input", violations);
      if (isCompensation && !use.isRepeatable) {
        const message = `must be repeatable: ${target} cannot be sent again after an unknown outcome, and would stay undone; use a task, or an action with idempotency "key" or "natural"`;
        violations.add(path, "compensate", message);
      }
    }
  }
  let suggested = 0;
  for (const { path, target, input } of subworkflows) {
    if (violations.isFull) return;
    const before = violations.list.length;
    checkSubworkflow(
      definition.key,
      path,
      target,
      suggested < suggestionsMax ? lookups : { ...lookups, knownKeys: [] },
      violations,
    );
    suggested += violations.list.length - before;
    const schema = lookups.inputSchemaOf(target);
    if (schema !== undefined) checkInput(schema, input, `the input schema of ${callName(target)}`, violations);
  }
}

/** Checks the parts of an input that are no expressions. All of it is checked again when a run executes the step. */
function checkInput(schema: JsonObject, { value, path }: PlacedInput, source: string, violations: Violations): void {
  // A text that starts with == is open too: it stands for another text, and such texts are rare.
  const isOpen = (part: Json) => typeof part === "string" && part.startsWith("=");
  for (const each of checkValue(schema, value, path, isOpen)) {
    violations.add(each.path, `input.${each.rule}`, `${each.message}, as ${source} says`);
  }
}

function checkSubworkflow(
  ownKey: string,
  path: string,
  call: SubworkflowCall,
  lookups: DefinitionLookups,
  violations: Violations,
): void {
  const { key, version } = call;
  if (key === ownKey && version === undefined) {
    const message = `must not run the definition itself (${key} → ${key}): use a map to repeat steps`;
    violations.add(`${path}.key`, "cycle", message);
    return;
  }
  const state = lookups.definitionState(key);
  if (state === "absent") {
    const near = nearestName(key, lookups.knownKeys);
    const hint = near === undefined ? "create and publish it first" : `did you mean ${near}?`;
    violations.add(`${path}.key`, "missing_subworkflow", `there is no definition "${key}"; ${hint}`);
  } else if (state === "unpublished") {
    violations.add(`${path}.key`, "missing_subworkflow", `the definition "${key}" is not published: publish it first`);
  } else if (version !== undefined && lookups.callsOf(call) === undefined) {
    const message = `the definition "${key}" has no version ${version}: name an existing one, or leave version out`;
    violations.add(`${path}.version`, "missing_subworkflow", message);
  } else {
    const cycle = findCycle(ownKey, call, lookups);
    if (cycle === undefined) return;
    const message = `must not lead back to this definition: ${[ownKey, ...cycle].join(" → ")}`;
    violations.add(`${path}.key`, "cycle", message);
  }
}

/** The names of the calls that lead from a call back to the definition; undefined if none do. */
function findCycle(
  ownKey: string,
  first: SubworkflowCall,
  lookups: Pick<DefinitionLookups, "callsOf">,
): readonly string[] | undefined {
  // Breadth first, so that the shortest cycle is shown. Each definition is visited once.
  const cameFrom = new Map<string, string | undefined>([[callName(first), undefined]]);
  const open = [first];
  for (let call = open.shift(); call !== undefined; call = open.shift()) {
    for (const next of lookups.callsOf(call) ?? []) {
      const isOwn = next.key === ownKey && next.version === undefined;
      if (isOwn) return [...pathTo(callName(call), cameFrom), ownKey];
      if (cameFrom.has(callName(next))) continue;
      cameFrom.set(callName(next), callName(call));
      open.push(next);
    }
  }
  return undefined;
}

function pathTo(name: string, cameFrom: ReadonlyMap<string, string | undefined>): readonly string[] {
  const before = cameFrom.get(name);
  return before === undefined ? [name] : [...pathTo(before, cameFrom), name];
}
