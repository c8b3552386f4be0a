/**
 * Values while an expression runs:
 *
 * | CEL | here |
 * |---|---|
 * | null, bool, string | the JavaScript value |
 * | int | bigint |
 * | double | number |
 * | list | `ListValue`, or an array of the caller's, whose elements are read through `fromData` |
 * | map | `MapValue`, or an object of the caller's, of which only own properties exist |
 * | timestamp, duration, type, optional | their classes below |
 * | error | `Failure`, which is passed on as a value because `||`, `&&`, `exists` and `all` may absorb it |
 */
export type Value = null | boolean | bigint | number | string | object;

/** Base of every class of ours, so that one check tells the caller's own objects apart. */
export abstract class Internal {}

/** An error of the language; `at` is the offset of the node that failed. */
export class Failure extends Internal {
  readonly message: string;
  readonly at: number;
  constructor(message: string, at: number) {
    super();
    this.message = message;
    this.at = at;
  }
}

/** A list that the expression built. */
export class ListValue extends Internal {
  readonly items: readonly Value[];
  constructor(items: readonly Value[]) {
    super();
    this.items = items;
  }
}

/** What a key of a map can be. */
export type MapKey = boolean | bigint | string;

/** A map that the expression built. */
export class MapValue extends Internal {
  readonly entries: ReadonlyMap<MapKey, Value>;
  constructor(entries: ReadonlyMap<MapKey, Value>) {
    super();
    this.entries = entries;
  }
}

/** A point in time, in nanoseconds since 1970 in UTC. */
export class Timestamp extends Internal {
  readonly ns: bigint;
  constructor(ns: bigint) {
    super();
    this.ns = ns;
  }
}

/** A length of time in nanoseconds. */
export class Duration extends Internal {
  readonly ns: bigint;
  constructor(ns: bigint) {
    super();
    this.ns = ns;
  }
}

/** The value of `type(x)`, and of names such as `string`. */
export class TypeValue extends Internal {
  readonly name: string;
  constructor(name: string) {
    super();
    this.name = name;
  }
}

/** What `a.?b` gives: a value, or none. */
export class Optional extends Internal {
  readonly value: Value | undefined;
  constructor(value: Value | undefined) {
    super();
    this.value = value;
  }
}

/** The optional that holds nothing. */
export const NONE = new Optional(undefined);

/** The kinds that a value can be of at run time. */
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

/** Whether a bigint is an int of CEL. */
export function isInt64(value: bigint): boolean {
  return value >= INT_MIN && value <= INT_MAX;
}

/** Whether a number is whole and within the range of an int. */
export function isWholeInt64(value: number): boolean {
  return Number.isInteger(value) && value >= -INT_LIMIT_AS_DOUBLE && value < INT_LIMIT_AS_DOUBLE;
}

/** The timestamp of a Date, or undefined for an invalid one. */
export function fromDate(date: Date): Timestamp | undefined {
  const ms = date.getTime();
  return Number.isNaN(ms) ? undefined : new Timestamp(BigInt(ms) * 1_000_000n);
}

/**
 * Reads a value of the caller's; undefined where CEL has no such value. Whole numbers are ints, as far as a number of
 * JSON is exact: beyond 2^53 it stays a double.
 */
export function fromData(value: unknown): Value | undefined {
  return Number.isSafeInteger(value) ? BigInt(value as number) : fromDataLoosely(value);
}

/** As `fromData`, but whole numbers stay numbers: enough for comparing, where 5 and 5.0 are the same, and quicker. */
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

/** Elements of a list of either sort, as values; `undefined` stands for what CEL cannot read. */
export function listItem(list: object, index: number): Value | undefined {
  return list instanceof ListValue ? list.items[index] : fromData((list as readonly unknown[])[index]);
}

/** Number of elements of a list of either sort. */
export function listLength(list: object): number {
  return list instanceof ListValue ? list.items.length : (list as readonly unknown[]).length;
}
