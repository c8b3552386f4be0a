import type { Kind } from "../values/values.ts";

/** The statically known type of an expression; `dyn` means that the type is known only at run time. */
export interface StaticType {
  readonly kind: Kind | "dyn";
  /** The element type of a list or an optional, or the value type of a map. */
  readonly element?: StaticType;
  /** The key type of a map. */
  readonly key?: StaticType;
  /** The types of the members of a map that are declared by name. */
  readonly fields?: Readonly<Record<string, StaticType>>;
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

/** The element type of a list, a map or an optional; `dyn` if it is unknown. */
export const elementOf = (type: StaticType): StaticType => type.element ?? DYN;

/** The type of a member of a map. */
export const fieldOf = (type: StaticType, name: string): StaticType =>
  type.fields !== undefined && Object.hasOwn(type.fields, name) ? type.fields[name]! : elementOf(type);

export const isNumeric = (type: StaticType): boolean => type.kind === "int" || type.kind === "double";

/** Whether the values of a type stay of that type when they are stored as JSON; a timestamp becomes a string, an int key too. */
export function isJsonType(type: StaticType): boolean {
  switch (type.kind) {
    case "list":
      return isJsonType(elementOf(type));
    case "map":
      // Only a JSON Schema declares members.
      return type.fields !== undefined || (type.key?.kind === "string" && isJsonType(elementOf(type)));
    default:
      return JSON_KINDS.has(type.kind);
  }
}

const JSON_KINDS: ReadonlySet<string> = new Set(["dyn", "null", "bool", "int", "double", "string"]);

/** Whether values of both types can be equal; `dyn` is compatible with every type, and ints are with doubles. */
export function compatible(a: StaticType, b: StaticType): boolean {
  if (a === b || a.kind === "dyn" || b.kind === "dyn" || (isNumeric(a) && isNumeric(b))) return true;
  if (a.kind !== b.kind) return false;
  return compatible(a.element ?? DYN, b.element ?? DYN) && compatible(a.key ?? DYN, b.key ?? DYN);
}

/** The common type of two types; `dyn` where they differ. */
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

/** Formats a type for an error message; deeply nested types are abbreviated. */
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
