import { CelError } from "../cel-error.ts";
import { LIMITS } from "../limits.ts";
import { charge, chargeText, type Frame } from "../plan/frame.ts";
import {
  type Duration,
  fromDataLoosely,
  Internal,
  isWholeInt64,
  kindOf,
  ListValue,
  type MapKey,
  MapValue,
  type Optional,
  type Timestamp,
  type TypeValue,
  type Value,
} from "./values.ts";

/** Whether two numbers, ints or doubles, are equal; NaN does not equal itself. */
export function sameNumber(a: number | bigint, b: number | bigint): boolean {
  return a >= b && a <= b;
}

/** CEL equality: values of different kinds are unequal; ints and doubles are compared by their numeric value. */
export function equals(frame: Frame, a: Value, b: Value, depth = 0): boolean {
  switch (typeof a) {
    case "string":
      if (typeof b !== "string" || a.length !== b.length) return false;
      chargeText(frame, a.length);
      return a === b;
    case "boolean":
      return a === b;
    case "number":
    case "bigint":
      return (typeof b === "number" || typeof b === "bigint") && sameNumber(a, b);
    default:
      if (a === null || b === null || typeof b !== "object") return a === b;
      return equalObjects(frame, a, b, depth);
  }
}

function equalObjects(frame: Frame, a: object, b: object, depth: number): boolean {
  charge(frame, 1);
  if (depth > LIMITS.valueDepth) throw new CelError("budget", "The values are nested too deeply to compare.");
  const kind = kindOf(a);
  if (kind !== kindOf(b)) return false;
  switch (kind) {
    case "list":
      return equalLists(frame, a, b, depth);
    case "map":
      return equalMaps(frame, a, b, depth);
    case "timestamp":
      return (a as Timestamp).ns === (b as Timestamp).ns;
    case "duration":
      return (a as Duration).ns === (b as Duration).ns;
    case "type":
      return (a as TypeValue).name === (b as TypeValue).name;
    default:
      return equalOptionals(frame, a as Optional, b as Optional, depth);
  }
}

function equalOptionals(frame: Frame, a: Optional, b: Optional, depth: number): boolean {
  if (a.value === undefined || b.value === undefined) return a.value === b.value;
  return equals(frame, a.value, b.value, depth + 1);
}

function itemsOf(list: object): readonly unknown[] {
  return list instanceof ListValue ? list.items : (list as readonly unknown[]);
}

function equalLists(frame: Frame, a: object, b: object, depth: number): boolean {
  const left = itemsOf(a);
  const right = itemsOf(b);
  if (left.length !== right.length) return false;
  return left.every((item, i) => equalItems(frame, item, right[i], depth));
}

function equalItems(frame: Frame, a: unknown, b: unknown, depth: number): boolean {
  charge(frame, 1);
  const left = a instanceof Internal ? a : fromDataLoosely(a);
  const right = b instanceof Internal ? b : fromDataLoosely(b);
  return left !== undefined && right !== undefined && equals(frame, left, right, depth + 1);
}

function equalMaps(frame: Frame, a: object, b: object, depth: number): boolean {
  const keys = mapKeys(frame, a);
  if (keys.length !== mapSize(frame, b)) return false;
  return keys.every((key) => equalItems(frame, mapEntry(a, key), mapEntry(b, key), depth));
}

/** The keys of a MapValue or of an input object; the latter's own enumerable properties with a defined value. */
export function mapKeys(frame: Frame, map: object): readonly MapKey[] {
  if (map instanceof MapValue) return [...map.entries.keys()];
  const keys = Object.keys(map);
  charge(frame, 4 * keys.length);
  return keys.every((key) => (map as Record<string, unknown>)[key] !== undefined)
    ? keys
    : keys.filter((key) => (map as Record<string, unknown>)[key] !== undefined);
}

/** The number of entries of a MapValue or an input object. */
export function mapSize(frame: Frame, map: object): number {
  return map instanceof MapValue ? map.entries.size : mapKeys(frame, map).length;
}

/** The unconverted entry of a MapValue or an input object; undefined if there is no such key. */
export function mapEntry(map: object, key: MapKey): unknown {
  if (map instanceof MapValue) return map.entries.get(key);
  return typeof key === "string" && Object.hasOwn(map, key) ? (map as Record<string, unknown>)[key] : undefined;
}

/** Converts a value to a map key; integral doubles become ints. Undefined for a value that cannot be a key. */
export function toMapKey(value: Value): MapKey | undefined {
  switch (typeof value) {
    case "string":
    case "bigint":
    case "boolean":
      return value;
    case "number":
      return isWholeInt64(value) ? BigInt(value) : undefined;
    default:
      return undefined;
  }
}

/** Charges for the lookup of a key, because a long text must be hashed. */
export function chargeKey(frame: Frame, key: unknown): void {
  if (typeof key === "string") chargeText(frame, key.length);
}

/** `value in container`, for a list or a map; undefined for anything else. */
export function isIn(frame: Frame, value: Value, container: Value): boolean | undefined {
  if (typeof container !== "object" || container === null) return undefined;
  switch (kindOf(container)) {
    case "list": {
      const items = itemsOf(container);
      return items.some((item) => equalItems(frame, value, item, 0));
    }
    case "map": {
      const key = toMapKey(value);
      chargeKey(frame, key);
      return key !== undefined && mapEntry(container, key) !== undefined;
    }
    default:
      return undefined;
  }
}
