import type { PatchOperation } from "./patch-operation.ts";

const oneMember = /^members\[ *value +eq +"([\w-]{1,64})" *\]$/i;

/**
 * Merges neighbouring operations that add members to a group, or that remove members from it. Directories send up to 1,000
 * operations for one member each, and a group can have every person of a tenant: each operation reads the whole list.
 */
export function mergeMemberOperations(operations: readonly PatchOperation[]): PatchOperation[] {
  const merged: PatchOperation[] = [];
  let last: { op: PatchOperation["op"]; elements: unknown[] } | undefined;
  for (const operation of operations) {
    const named = namedMembers(operation);
    if (named === undefined) {
      merged.push(operation);
      last = undefined;
    } else if (last?.op === operation.op) {
      for (const each of named) last.elements.push(each);
    } else {
      last = { op: operation.op, elements: [...named] };
      merged.push({ op: operation.op, path: "members", value: last.elements });
    }
  }
  return merged;
}

/** The members that an operation adds or removes one by one; undefined for any other operation. */
function namedMembers({ op, path = "", value }: PatchOperation): readonly unknown[] | undefined {
  if (op === "replace") return undefined;
  const id = op === "remove" ? oneMember.exec(path)?.[1] : undefined;
  if (id !== undefined) return [{ value: id }];
  // Without a value, all members are removed.
  if (path.toLowerCase() !== "members" || value === undefined || value === null) return undefined;
  return Array.isArray(value) ? value : [value];
}
