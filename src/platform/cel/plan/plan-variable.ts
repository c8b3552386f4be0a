import type { CelType } from "../cel-type.ts";
import { BOOL, DOUBLE, DYN, INT, LIST, MAP, STRING, type StaticType, TIMESTAMP } from "../syntax/static-type.ts";
import {
  Failure,
  fromData,
  fromDataLoosely,
  fromDate,
  isInt64,
  isWholeInt64,
  Optional,
  type Value,
} from "../values/values.ts";
import type { Plan, Run } from "./plan.ts";

/** The static type of each declared type. */
export const DECLARED_TYPES: Readonly<Record<CelType, StaticType>> = {
  bool: BOOL,
  int: INT,
  double: DOUBLE,
  string: STRING,
  timestamp: TIMESTAMP,
  list: LIST,
  map: MAP,
  any: DYN,
};

/** Converts an input value to its declared type; undefined if it is of another type. */
type Read = (value: unknown) => Value | undefined;

const isPlainObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);

const READERS: Readonly<Record<CelType, Read>> = {
  bool: (value) => (typeof value === "boolean" ? value : undefined),
  int: (value) => {
    if (typeof value === "bigint") return isInt64(value) ? value : undefined;
    return typeof value === "number" && isWholeInt64(value) ? BigInt(value) : undefined;
  },
  double: (value) => (typeof value === "number" || typeof value === "bigint" ? Number(value) : undefined),
  string: (value) => (typeof value === "string" ? value : undefined),
  timestamp: (value) => (value instanceof Date ? fromDate(value) : undefined),
  list: (value) => (Array.isArray(value) ? value : undefined),
  map: (value) => (isPlainObject(value) ? value : undefined),
  any: fromData,
};

/** Plans a root variable. */
export function planVariable(name: string, declared: CelType | StaticType, at: number): Plan {
  const [kind, type] = typeof declared === "string" ? [declared, DECLARED_TYPES[declared]] : ["any" as const, declared];
  const reading = (read: Read): Run => {
    return (frame) => {
      const value = read(frame.values[name]);
      return value === undefined ? new Failure(`'${name}' has no value of the type ${kind}`, at) : value;
    };
  };
  return {
    type,
    run: readAs(type, reading(READERS[kind])),
    runLoosely: kind === "any" ? reading(fromDataLoosely) : undefined,
  };
}

/** Reads a number that is declared as a double. `fromData` knows only its value, and takes a whole number for an int. */
export function readAs(type: StaticType, run: Run): Run {
  if (type.kind === "double") return (frame) => toDouble(run(frame));
  if (type.kind !== "optional" || type.element?.kind !== "double") return run;
  return (frame) => {
    const value = run(frame);
    return value instanceof Optional && value.value !== undefined ? new Optional(toDouble(value.value)) : value;
  };
}

const toDouble = (value: Value): Value => (typeof value === "bigint" ? Number(value) : value);
