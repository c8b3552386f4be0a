import { charge, chargeNewText, chargeText, type Frame } from "../plan/frame.ts";
import { BOOL, DOUBLE, DURATION, DYN, INT, STRING, type StaticType, TIMESTAMP, TYPE } from "../syntax/static-type.ts";
import {
  checkedTimestamp,
  epochSeconds,
  formatDuration,
  formatTimestamp,
  parseDuration,
  parseTimestamp,
} from "../values/time.ts";
import {
  type Duration,
  Failure,
  isInt64,
  isWholeInt64,
  kindOf,
  type Timestamp,
  TypeValue,
  type Value,
} from "../values/values.ts";
import { type FunctionTable, overload } from "./overload.ts";

const DECIMAL = /^[+-]?\d{1,19}$/;
const FLOAT = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** `int(x)` of a double: its integer part. */
function intOfDouble(_frame: Frame, at: number, value: number): Value {
  const whole = Math.trunc(value);
  // The upper end of the range is not representable as a double, so doubles at both ends are rejected.
  if (!isWholeInt64(whole) || whole === -(2 ** 63)) return new Failure("out of the range of an int", at);
  return BigInt(whole);
}

function intOfString(frame: Frame, at: number, value: string): Value {
  chargeText(frame, value.length);
  const int = DECIMAL.test(value) ? BigInt(value.replace("+", "")) : undefined;
  return int !== undefined && isInt64(int) ? int : new Failure("not an int", at);
}

function doubleOfString(frame: Frame, at: number, value: string): Value {
  chargeText(frame, value.length);
  if (FLOAT.test(value)) return Number(value);
  switch (value) {
    case "NaN":
      return Number.NaN;
    case "Inf":
    case "+Inf":
    case "Infinity":
      return Number.POSITIVE_INFINITY;
    case "-Inf":
    case "-Infinity":
      return Number.NEGATIVE_INFINITY;
    default:
      return new Failure("not a double", at);
  }
}

const TRUE_WORDS: ReadonlySet<string> = new Set(["1", "t", "T", "true", "TRUE", "True"]);
const FALSE_WORDS: ReadonlySet<string> = new Set(["0", "f", "F", "false", "FALSE", "False"]);

function boolOfString(_frame: Frame, at: number, value: string): Value {
  if (TRUE_WORDS.has(value)) return true;
  return FALSE_WORDS.has(value) ? false : new Failure("not a bool", at);
}

function stringOf(frame: Frame, _at: number, value: Value): string {
  if (typeof value === "object") charge(frame, TIME_STEPS);
  const text = textOf(value);
  chargeNewText(frame, text.length);
  return text;
}

// Parsing and formatting times and durations is slow.
const TIME_STEPS = 40;

function timestampOfString(frame: Frame, at: number, text: string): Value {
  charge(frame, TIME_STEPS);
  return parseTimestamp(text, at);
}

function durationOfString(frame: Frame, at: number, text: string): Value {
  charge(frame, TIME_STEPS + 4 * text.length);
  return parseDuration(text, at);
}

function textOf(value: Value): string {
  switch (kindOf(value)) {
    case "timestamp":
      return formatTimestamp(value as Timestamp);
    case "duration":
      return formatDuration(value as Duration);
    case "double":
      return doubleText(value as number);
    default:
      return String(value);
  }
}

function doubleText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  if (value === Number.NEGATIVE_INFINITY) return "-Inf";
  return String(value);
}

const TYPE_NAMES = {
  null: "null_type",
  bool: "bool",
  int: "int",
  double: "double",
  string: "string",
  list: "list",
  map: "map",
  timestamp: "google.protobuf.Timestamp",
  duration: "google.protobuf.Duration",
  type: "type",
  optional: "optional_type",
} as const;

/** The types that an expression can refer to by name. */
export const NAMED_TYPES: ReadonlyMap<string, TypeValue> = new Map(
  Object.values(TYPE_NAMES).map((name) => [name, new TypeValue(name)]),
);

function typeOf(value: Value): TypeValue {
  return NAMED_TYPES.get(TYPE_NAMES[kindOf(value)])!;
}

const identity = (type: StaticType) => overload([type], type, (_frame, _at, value) => value);

/** The type conversion functions. */
export const CONVERSIONS: FunctionTable = {
  dyn: [overload([DYN], DYN, (_frame, _at, value) => value)],
  type: [overload([DYN], TYPE, (_frame, _at, value: Value) => typeOf(value))],
  bool: [identity(BOOL), overload([STRING], BOOL, boolOfString)],
  int: [
    identity(INT),
    overload([DOUBLE], INT, intOfDouble),
    overload([STRING], INT, intOfString),
    overload([TIMESTAMP], INT, (_frame, _at, time: Timestamp) => epochSeconds(time)),
  ],
  double: [
    identity(DOUBLE),
    overload([INT], DOUBLE, (_frame, _at, value: bigint) => Number(value)),
    overload([STRING], DOUBLE, doubleOfString),
  ],
  string: [
    identity(STRING),
    ...[BOOL, INT, DOUBLE, TIMESTAMP, DURATION].map((type) => overload([type], STRING, stringOf)),
  ],
  timestamp: [
    identity(TIMESTAMP),
    overload([STRING], TIMESTAMP, timestampOfString),
    overload([INT], TIMESTAMP, (_frame, at, seconds: bigint) => checkedTimestamp(seconds * 1_000_000_000n, at)),
  ],
  duration: [identity(DURATION), overload([STRING], DURATION, durationOfString)],
};
