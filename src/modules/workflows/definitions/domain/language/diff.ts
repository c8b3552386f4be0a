import { canonicalJson } from "../../../../../platform/crypto/index.ts";
import { memberPath } from "../../../../../platform/document/index.ts";
import type { Json, JsonObject } from "./definition.ts";

/** A value that differs. Values are JSON texts, shortened if they are long; undefined if there is none. */
export interface ValueChange {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

export interface StepChange {
  readonly id: string;
  readonly change: "added" | "removed" | "changed" | "moved";
  /** Whether a changed step has also moved. */
  readonly moved: boolean;
  /** Its paths in the two documents; empty if it is not there. */
  readonly beforePath: string;
  readonly afterPath: string;
  /** Differences inside a changed step, with paths below the step. */
  readonly values: readonly ValueChange[];
}

/** The differences between two documents. */
export interface DefinitionDiff {
  /** Fields of the document, except steps. */
  readonly fields: readonly ValueChange[];
  readonly steps: readonly StepChange[];
  /** Whether there are more differences than are listed. */
  readonly truncated: boolean;
}

const changesMax = 1000;
const valueCharactersMax = 200;

interface FoundStep {
  readonly path: string;
  /** The list that it is in: the id of the step around it, and the part of that step. */
  readonly list: string;
  /** The step without the steps inside of it. */
  readonly own: Json;
}

/**
 * Compares two documents step by step. Steps are matched by their ids, so that an inserted step does not make all later
 * ones differ. The documents need not be valid.
 */
export function diffDefinitions(before: Json, after: Json): DefinitionDiff {
  const [left, right] = [new Map<string, FoundStep>(), new Map<string, FoundStep>()];
  collectSteps(isObject(before) ? before.steps : undefined, "steps", "", left);
  collectSteps(isObject(after) ? after.steps : undefined, "steps", "", right);
  const budget = { left: changesMax };
  const fields = compare(withoutSteps(before), withoutSteps(after), "", budget);
  const moved = movedSteps(left, right);
  const steps: StepChange[] = [];
  for (const [id, { path, own }] of right) {
    const old = left.get(id);
    const hasMoved = moved.has(id);
    const place = { id, beforePath: old?.path ?? "", afterPath: path };
    if (old === undefined) steps.push({ ...place, change: "added", moved: false, values: [] });
    else {
      const values = compare(old.own, own, "", budget);
      if (values.length > 0) steps.push({ ...place, change: "changed", moved: hasMoved, values });
      else if (hasMoved) steps.push({ ...place, change: "moved", moved: true, values });
    }
  }
  for (const [id, { path }] of left) {
    if (right.has(id)) continue;
    steps.push({ id, change: "removed", moved: false, beforePath: path, afterPath: "", values: [] });
  }
  return { fields, steps: steps.slice(0, changesMax), truncated: budget.left === 0 || steps.length > changesMax };
}

function withoutSteps(document: Json): Json {
  if (!isObject(document)) return document;
  const { steps: _, ...fields } = document;
  return fields;
}

function collectSteps(value: Json | undefined, path: string, list: string, found: Map<string, FoundStep>): void {
  if (!Array.isArray(value)) return;
  for (const [at, step] of (value as readonly Json[]).entries()) {
    if (!isObject(step) || typeof step.id !== "string") continue;
    const { id } = step;
    const stepPath = `${path}[${at}]`;
    const { own, inner } = separate(step, stepPath);
    if (!found.has(id)) found.set(id, { path: stepPath, list, own });
    for (const { part, steps, path: innerPath } of inner) collectSteps(steps, innerPath, `${id}|${part}`, found);
  }
}

interface InnerList {
  /** The role of the list in its step, without positions that change when something is inserted. */
  readonly part: string;
  readonly path: string;
  readonly steps: Json | undefined;
}

/** Separates a step from the steps inside of it. */
function separate(step: JsonObject, path: string): { own: Json; inner: readonly InnerList[] } {
  const inner: InnerList[] = [];
  const own: Record<string, Json> = { ...step };
  const take = (holder: JsonObject, name: string, part: string, at: string): Json => {
    if (!Object.hasOwn(holder, name)) return holder;
    const { [name]: steps, ...rest } = holder;
    inner.push({ part, path: memberPath(at, name), steps });
    return rest;
  };
  const takeEach = (name: string) => {
    const entries = step[name];
    if (!Array.isArray(entries)) return;
    own[name] = (entries as readonly Json[]).map((entry, at) => {
      if (!isObject(entry)) return entry;
      const entryPath = `${path}.${name}[${at}]`;
      const without = take(entry, "steps", `${name}[${at}]`, entryPath);
      return Object.hasOwn(entry, "else") ? take(entry, "else", "else", entryPath) : without;
    });
  };
  takeEach("branch");
  takeEach("catch");
  const { map, parallel } = step;
  if (isObject(map)) own.map = take(map, "steps", "map", `${path}.map`);
  for (const kind of ["wait_event", "approval"]) {
    const work = step[kind];
    if (isObject(work)) own[kind] = take(work, "on_timeout", "on_timeout", `${path}.${kind}`);
  }
  if (isObject(parallel) && isObject(parallel.branches)) {
    const { branches } = parallel;
    for (const name of Object.keys(branches)) {
      inner.push({
        part: `branch ${name}`,
        path: memberPath(`${path}.parallel.branches`, name),
        steps: branches[name],
      });
    }
    own.parallel = { ...parallel, branches: Object.keys(branches) };
  }
  return { own, inner };
}

/** The steps that are in another list, or in another order among the steps that were in the list before. */
function movedSteps(left: ReadonlyMap<string, FoundStep>, right: ReadonlyMap<string, FoundStep>): ReadonlySet<string> {
  const moved = new Set<string>();
  const order = new Map([...left.keys()].map((id, at) => [id, at]));
  const kept = new Map<string, string[]>();
  for (const [id, { list }] of right) {
    const old = left.get(id);
    if (old === undefined) continue;
    if (old.list !== list) moved.add(id);
    else if (kept.has(list)) kept.get(list)!.push(id);
    else kept.set(list, [id]);
  }
  for (const ids of kept.values()) {
    const inOrder = new Set(longestIncreasing(ids.map((id) => order.get(id)!)));
    for (const id of ids) if (!inOrder.has(order.get(id)!)) moved.add(id);
  }
  return moved;
}

/** The longest increasing subsequence of different numbers. */
function longestIncreasing(numbers: readonly number[]): readonly number[] {
  // ends[n] is the position of the smallest number that ends an increasing subsequence of n + 1 numbers.
  const ends: number[] = [];
  const previous: (number | undefined)[] = [];
  for (const [at, number] of numbers.entries()) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (numbers[ends[middle]!]! < number) low = middle + 1;
      else high = middle;
    }
    previous[at] = ends[low - 1];
    ends[low] = at;
  }
  const sequence: number[] = [];
  for (let at = ends.at(-1); at !== undefined; at = previous[at]) sequence.push(numbers[at]!);
  return sequence.reverse();
}

/** The innermost values that differ. */
function compare(
  before: Json | undefined,
  after: Json | undefined,
  path: string,
  budget: { left: number },
): readonly ValueChange[] {
  const changes: ValueChange[] = [];
  collectChanges(before, after, path, budget, changes);
  return changes;
}

function collectChanges(
  before: Json | undefined,
  after: Json | undefined,
  path: string,
  budget: { left: number },
  changes: ValueChange[],
): void {
  if (budget.left === 0) return;
  if (isObject(before) && isObject(after)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const [old, now] = [memberOf(before, name), memberOf(after, name)];
      collectChanges(old, now, memberPath(path, name), budget, changes);
    }
  } else if (Array.isArray(before) && Array.isArray(after)) {
    for (let at = 0; at < Math.max(before.length, after.length); at++) {
      collectChanges(before[at], after[at], `${path}[${at}]`, budget, changes);
    }
  } else if (
    before !== after &&
    (before === undefined || after === undefined || canonicalJson(before) !== canonicalJson(after))
  ) {
    budget.left--;
    changes.push({ path, before: shown(before), after: shown(after) });
  }
}

function memberOf(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function shown(value: Json | undefined): string | undefined {
  if (value === undefined) return undefined;
  const text = JSON.stringify(value);
  return (text.length > valueCharactersMax ? `${text.slice(0, valueCharactersMax)}…` : text).toWellFormed();
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
