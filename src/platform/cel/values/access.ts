import { mapEntry, toMapKey } from "./equality.ts";
import {
  Failure,
  fromData,
  fromDataLoosely,
  Internal,
  isWholeInt64,
  kindOf,
  listItem,
  listLength,
  MapValue,
  NONE,
  Optional,
  type Value,
} from "./values.ts";

const noSuchKey = (key: unknown, at: number): Failure => new Failure(`no such key: ${shorten(key)}`, at);

function shorten(key: unknown): string {
  const text = String(key);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

// `??` cannot be used, because null is a value.
function orFailure(value: Value | undefined, failure: () => Failure): Value {
  return value === undefined ? failure() : value;
}

/** Whether a value is an input object. Only its own properties are data. */
function isDataMap(value: Value): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !(value instanceof Internal) && !Array.isArray(value);
}

/** `operand.field`. */
export function select(operand: Value, field: string, at: number): Value {
  if (!isDataMap(operand)) return selectBuilt(operand, field, at);
  const value = Object.hasOwn(operand, field) ? fromData(operand[field]) : undefined;
  return value === undefined ? noSuchKey(field, at) : value;
}

/** Like `select`, but an integer of the input stays a number. */
export function selectLoosely(operand: Value, field: string, at: number): Value {
  if (!isDataMap(operand)) return selectBuilt(operand, field, at);
  const value = Object.hasOwn(operand, field) ? fromDataLoosely(operand[field]) : undefined;
  return value === undefined ? noSuchKey(field, at) : value;
}

function selectBuilt(operand: Value, field: string, at: number): Value {
  if (operand instanceof Failure) return operand;
  if (operand instanceof Optional) return selectOptional(operand, field, at);
  if (operand instanceof MapValue) return orFailure(operand.entries.get(field), () => noSuchKey(field, at));
  return new Failure(`a ${kindOf(operand)} has no fields`, at);
}

/** `operand.?field`: an optional, which is empty if there is no such key. */
export function selectOptional(operand: Value, field: string, at: number): Value {
  const base = operand instanceof Optional ? operand.value : operand;
  if (base === undefined) return NONE;
  const present = has(base, field, at);
  if (present !== true) return present === false ? NONE : present;
  const value = select(base, field, at);
  return value instanceof Failure ? value : new Optional(value);
}

/** `has(operand.field)`. */
export function has(operand: Value, field: string, at: number): Value {
  if (operand instanceof Failure) return operand;
  if (operand instanceof Optional) return operand.value !== undefined && has(operand.value, field, at);
  if (kindOf(operand) !== "map") return new Failure(`a ${kindOf(operand)} has no fields`, at);
  return mapEntry(operand as object, field) !== undefined;
}

/** `operand[index]`. */
export function index(operand: Value, key: Value, at: number): Value {
  switch (kindOf(operand)) {
    case "list":
      return listAt(operand as object, key, at);
    case "map":
      return mapAt(operand as object, key, at);
    case "optional":
      return indexOptional(operand, key, at);
    default:
      return new Failure(`a ${kindOf(operand)} cannot be indexed`, at);
  }
}

/** `operand[?index]`: an optional, which is empty if there is no such element. */
export function indexOptional(operand: Value, key: Value, at: number): Value {
  const base = operand instanceof Optional ? operand.value : operand;
  if (base === undefined) return NONE;
  const kind = kindOf(base);
  if (kind !== "list" && kind !== "map") return new Failure(`a ${kind} cannot be indexed`, at);
  const value = index(base, key, at);
  return value instanceof Failure ? NONE : new Optional(value);
}

function listAt(list: object, key: Value, at: number): Value {
  if (typeof key !== "bigint" && !(typeof key === "number" && isWholeInt64(key)))
    return new Failure("the index of a list must be an int", at);
  const position = Number(key);
  if (position < 0 || position >= listLength(list)) return new Failure(`index out of bounds: ${key}`, at);
  return orFailure(listItem(list, position), () => new Failure("not a value of CEL", at));
}

function mapAt(map: object, value: Value, at: number): Value {
  const key = toMapKey(value);
  if (key === undefined) return new Failure(`a ${kindOf(value)} cannot be the key of a map`, at);
  const entry = mapEntry(map, key);
  const read = map instanceof MapValue ? (entry as Value | undefined) : fromData(entry);
  return orFailure(read, () => noSuchKey(key, at));
}
