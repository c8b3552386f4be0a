import type { PatchStep } from "../../errors/index.ts";

type Container = Record<string, unknown>;

/** Applies the steps of a JSON Patch (RFC 6902) to a copy of a document. Throws if a step does not fit the document. */
export function applyPatch(document: unknown, steps: readonly PatchStep[]): unknown {
  const copy = structuredClone(document);
  patchInPlace(copy, steps);
  return copy;
}

/** Like applyPatch, without a copy. If a step does not fit the document, the steps before it are applied. */
export function patchInPlace(document: unknown, steps: readonly PatchStep[]): void {
  const root: Container = { document };
  for (const step of steps) {
    if (step.op === "move") put(root, step.path, take(root, step.from), false);
    else if (step.op === "remove") take(root, step.path);
    else put(root, step.path, structuredClone(step.value), step.op === "replace");
  }
}

function take(root: Container, pointer: string): unknown {
  const [holder, key] = locate(root, pointer);
  if (!Object.hasOwn(holder, key)) throw new Error(`no value at ${pointer}`);
  const value = holder[key];
  if (Array.isArray(holder)) holder.splice(positionIn(holder, key), 1);
  else delete holder[key];
  return value;
}

function put(root: Container, pointer: string, value: unknown, replaces: boolean): void {
  const [holder, key] = locate(root, pointer);
  if (replaces && !Object.hasOwn(holder, key)) throw new Error(`no value at ${pointer}`);
  if (Array.isArray(holder))
    holder.splice(key === "-" ? holder.length : positionIn(holder, key), replaces ? 1 : 0, value);
  else Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
}

function positionIn(list: readonly unknown[], key: string): number {
  if (!/^(?:0|[1-9]\d*)$/.test(key) || Number(key) > list.length) throw new Error(`no position ${key} in a list`);
  return Number(key);
}

function locate(root: Container, pointer: string): [Container, string] {
  const keys = `/document${pointer}`.split("/").slice(1);
  const last = keys.pop()!;
  let holder: unknown = root;
  for (const key of keys) {
    const name = unescapePointer(key);
    if (typeof holder !== "object" || holder === null || !Object.hasOwn(holder, name)) {
      throw new Error(`no value at ${pointer}`);
    }
    holder = (holder as Container)[name];
  }
  if (typeof holder !== "object" || holder === null) throw new Error(`no value at ${pointer}`);
  return [holder as Container, unescapePointer(last)];
}

function unescapePointer(key: string): string {
  return key.replaceAll("~1", "/").replaceAll("~0", "~");
}
