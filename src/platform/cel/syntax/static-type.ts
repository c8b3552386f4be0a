import type { Kind } from "../values/values.ts";

/** The type that checking knows of an expression; `dyn` is known only when the expression runs. */
export interface StaticType {
  readonly kind: Kind | "dyn";
  /** Of a list, an optional: its element. Of a map: its value. */
  readonly element?: StaticType;
  /** Of a map. */
  readonly key?: StaticType;
}

export const DYN: StaticType = { kind: "dyn" };
export const NULL: StaticType = { kind: "null" };
export const BOOL: StaticType = { kind: "bool" };
export const INT: StaticType = { kind: "int" };
export const DOUBLE: StaticType = { kind: "double" };
export const STRING: StaticType = { kind: "string" };
export const TIMESTAMP: StaticType = { kind: "timestamp" };
export const DURATION: StaticType = { kind: "duration" };
export const TYPE: StaticType = { kind: "type" };
export const LIST: StaticType = { kind: "list", element: DYN };
export const MAP: StaticType = { kind: "map", element: DYN, key: DYN };
export const OPTIONAL: StaticType = { kind: "optional", element: DYN };

export const listOf = (element: StaticType): StaticType => ({ kind: "list", element });
export const mapOf = (key: StaticType, element: StaticType): StaticType => ({ kind: "map", key, element });
export const optionalOf = (element: StaticType): StaticType => ({ kind: "optional", element });

/** The element of a list, a map or an optional, `dyn` where that is not known. */
export const elementOf = (type: StaticType): StaticType => type.element ?? DYN;

/** Whether a value of one type can be one of the other; `dyn` can be anything. */
export function compatible(a: StaticType, b: StaticType): boolean {
  if (a === b || a.kind === "dyn" || b.kind === "dyn") return true;
  if (a.kind !== b.kind) return false;
  return compatible(a.element ?? DYN, b.element ?? DYN) && compatible(a.key ?? DYN, b.key ?? DYN);
}

/** The type that covers both: `dyn` where they differ. */
export function join(a: StaticType, b: StaticType): StaticType {
  if (a === b) return a;
  if (a.kind !== b.kind) return DYN;
  switch (a.kind) {
    case "list":
      return listOf(join(elementOf(a), elementOf(b)));
    case "map":
      return mapOf(join(a.key ?? DYN, b.key ?? DYN), join(elementOf(a), elementOf(b)));
    case "optional":
      return optionalOf(join(elementOf(a), elementOf(b)));
    default:
      return a;
  }
}

/** How a type is written in a message; nested types are cut short, a message is no place for a hundred brackets. */
export function formatType(type: StaticType, depth = 0): string {
  if (depth > 3) return "…";
  switch (type.kind) {
    case "list":
      return `list(${formatType(elementOf(type), depth + 1)})`;
    case "map":
      return `map(${formatType(type.key ?? DYN, depth + 1)}, ${formatType(elementOf(type), depth + 1)})`;
    case "optional":
      return `optional(${formatType(elementOf(type), depth + 1)})`;
    default:
      return type.kind;
  }
}
