import { canonicalJson } from "../../../../platform/crypto/index.ts";
import type { JsonObject } from "../../../pack-records.ts";

/** A merged content, and the values that both sides changed. */
export interface Merge {
  readonly content: JsonObject;
  /** JSON Pointers. */
  readonly conflicts: readonly string[];
}

/** Whose value a conflict keeps. */
export type Winner = "local" | "pack";

type Member = { readonly value: unknown } | undefined;

/**
 * Merges the tenant's changes of a content with those of the pack. A member that only one side changed has the value of that
 * side. Members are merged one by one; lists and other values as a whole. A conflict has the winner's value.
 */
export function mergeContents(base: JsonObject, local: JsonObject, pack: JsonObject, winner: Winner): Merge {
  const conflicts: string[] = [];
  const merged = mergeMembers({ value: base }, { value: local }, { value: pack }, "", winner, conflicts);
  return { content: merged!.value as JsonObject, conflicts };
}

/** The values that differ, as JSON Pointers: members one by one, lists and other values as a whole. */
export function changedPaths(before: unknown, after: unknown, path = ""): readonly string[] {
  if (isSame(before, after)) return [];
  if (!isObject(before) || !isObject(after)) return [path];
  return memberNames(before, after).flatMap((name) =>
    changedPaths(memberOf(before, name)?.value, memberOf(after, name)?.value, `${path}/${escapeName(name)}`),
  );
}

/** Whether two values are equal, whatever the order of their members. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === undefined || b === undefined) return a === b;
  return canonicalJson(a) === canonicalJson(b);
}

function mergeMembers(
  base: Member,
  local: Member,
  pack: Member,
  path: string,
  winner: Winner,
  conflicts: string[],
): Member {
  if (isSame(local?.value, base?.value)) return pack;
  if (isSame(pack?.value, base?.value) || isSame(local?.value, pack?.value)) return local;
  if (isObject(local?.value) && isObject(pack?.value)) {
    const old = isObject(base?.value) ? base.value : {};
    const [ours, theirs] = [local.value, pack.value];
    const members = memberNames(ours, theirs, old).flatMap((name) => {
      const inside = `${path}/${escapeName(name)}`;
      const args = [memberOf(old, name), memberOf(ours, name), memberOf(theirs, name)] as const;
      const merged = mergeMembers(...args, inside, winner, conflicts);
      return merged === undefined ? [] : [[name, merged.value] as const];
    });
    return { value: Object.fromEntries(members) };
  }
  conflicts.push(path);
  return winner === "local" ? local : pack;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function memberOf(object: JsonObject, name: string): Member {
  return Object.hasOwn(object, name) ? { value: object[name] } : undefined;
}

function memberNames(...objects: JsonObject[]): string[] {
  return [...new Set(objects.flatMap((object) => Object.keys(object)))];
}

function escapeName(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}
