/**
 * Values during an evaluation:
 *
 * | CEL | JavaScript |
 * |---|---|
 * | null, bool, string | the JavaScript value |
 * | int | bigint |
 * | double | number |
 * | list | `ListValue`, or an input array, whose elements are converted by `fromData` |
 * | map | `MapValue`, or an input object, of which only own properties exist |
 * | timestamp, duration, type, optional | their classes below |
 * | error | `Failure`, which is propagated as a value because `||`, `&&`, `exists` and `all` may absorb it |
 */
export type Value = null | boolean | bigint | number | string | object;

/** The base of all internal value classes, so that one check distinguishes them from input objects. */
export abstract class Internal {}

/** A CEL run-time error; `at` is the offset of the node that failed. */
export class Failure extends Internal {
  readonly message: string;
  readonly at: number;
  constructor(message: string, at: number) {
    super();
    this.message = message;
    this.at = at;
  }
}

/** A list that was created by the expression. */
export class ListValue extends Internal {
  readonly items: readonly Value[];
  constructor(items: readonly Value[]) {
    super();
    this.items = items;
  }
}

/** The possible keys of a map. */
export type MapKey = boolean | bigint | string;

/** A map that was created by the expression. */
export class MapValue extends Internal {
  readonly entries: ReadonlyMap<MapKey, Value>;
  constructor(entries: ReadonlyMap<MapKey, Value>) {
    super();
    this.entries = entries;
  }
}

/** A point in time, in nanoseconds since the Unix epoch. */
export class Timestamp extends Internal {
  readonly ns: bigint;
  constructor(ns: bigint) {
    super();
    this.ns = ns;
  }
}

/** A duration in nanoseconds. */
export class Duration extends Internal {
  readonly ns: bigint;
  constructor(ns: bigint) {
    super();
    this.ns = ns;
  }
}

/** The value of `type(x)`, and of type names such as `string`. */
export class TypeValue extends Internal {
  readonly name: string;
  constructor(name: string) {
    super();
    this.name = name;
  }
}

/** An optional value, such as the result of `a.?b`. */
export class Optional extends Internal {
  readonly value: Value | undefined;
  constructor(value: Value | undefined) {
    super();
    this.value = value;
  }
}

/** The empty optional. */
export const NONE = new Optional(undefined);

/** The run-time type of a value. */
export type Kind =
  | "null"
  | "bool"
  | "int"
  | "double"
  | "string"
  | "list"
  | "map"
  | "timestamp"
  | "duration"
  | "type"
  | "optional";

/** The kind of a value that is not a failure. */
export function kindOf(value: Value): Kind {
  switch (typeof value) {
    case "boolean":
      return "bool";
    case "bigint":
      return "int";
    case "number":
      return "double";
    case "string":
      return "string";
    default:
      return value === null ? "null" : kindOfObject(value);
  }
}

function kindOfObject(value: object): Kind {
  if (!(value instanceof Internal)) return Array.isArray(value) ? "list" : "map";
  if (value instanceof ListValue) return "list";
  if (value instanceof MapValue) return "map";
  if (value instanceof Timestamp) return "timestamp";
  if (value instanceof Duration) return "duration";
  if (value instanceof Optional) return "optional";
  return "type";
}

const INT_MIN = -(2n ** 63n);
const INT_MAX = 2n ** 63n - 1n;
const INT_LIMIT_AS_DOUBLE = 2 ** 63;

/** Whether a bigint is within the range of a CEL int. */
export function isInt64(value: bigint): boolean {
  return value >= INT_MIN && value <= INT_MAX;
}

/** Whether a number is an integer within the range of a CEL int. */
export function isWholeInt64(value: number): boolean {
  return Number.isInteger(value) && value >= -INT_LIMIT_AS_DOUBLE && value < INT_LIMIT_AS_DOUBLE;
}

/** Converts a Date to a timestamp; undefined for an invalid Date. */
export function fromDate(date: Date): Timestamp | undefined {
  const ms = date.getTime();
  return Number.isNaN(ms) ? undefined : new Timestamp(BigInt(ms) * 1_000_000n);
}

/**
 * Converts an input value; undefined if CEL has no such value. Safe integers become ints; beyond 2^53, where a JSON number is
 * not exact, they stay doubles.
 */
export function fromData(value: unknown): Value | undefined {
  return Number.isSafeInteger(value) ? BigInt(value as number) : fromDataLoosely(value);
}

/** Like `fromData`, but integers stay numbers. This is faster, and sufficient for comparisons, where 5 equals 5.0. */
export function fromDataLoosely(value: unknown): Value | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
    case "number":
      return value;
    case "object":
      return value instanceof Date ? fromDate(value) : value;
    case "bigint":
      return isInt64(value) ? value : undefined;
    default:
      return undefined;
  }
}

/** An element of a ListValue or an input array; undefined if CEL has no such value. */
export function listItem(list: object, index: number): Value | undefined {
  return list instanceof ListValue ? list.items[index] : fromData((list as readonly unknown[])[index]);
}

/** The number of elements of a ListValue or an input array. */
export function listLength(list: object): number {
  return list instanceof ListValue ? list.items.length : (list as readonly unknown[]).length;
}
