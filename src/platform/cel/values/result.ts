import { CelError } from "../cel-error.ts";
import { LIMITS } from "../limits.ts";
import { charge, chargeText, type Frame } from "../plan/frame.ts";
import { epochMs, formatDuration } from "./time.ts";
import {
  Duration,
  fromData,
  Internal,
  ListValue,
  MapValue,
  Optional,
  Timestamp,
  type TypeValue,
  type Value,
} from "./values.ts";

/**
 * Converts a value to a plain JSON-like copy for the caller. Ints become numbers if that is exact, timestamps become Dates,
 * durations become text such as `3.5s`, and an empty optional becomes null. Copying is charged, because a small expression can
 * have an enormous result.
 */
export function toResult(frame: Frame, value: Value, depth = 0): unknown {
  switch (typeof value) {
    case "boolean":
    case "number":
      return value;
    case "string":
      chargeText(frame, value.length);
      return value;
    case "bigint":
      return Number.isSafeInteger(Number(value)) ? Number(value) : value;
    default:
      return value === null ? null : objectToResult(frame, value, depth);
  }
}

function objectToResult(frame: Frame, value: object, depth: number): unknown {
  if (depth > LIMITS.valueDepth) throw new CelError("budget", "The result is nested too deeply.");
  charge(frame, 1);
  if (!(value instanceof Internal)) return copyData(frame, value, depth);
  if (value instanceof ListValue) return value.items.map((item) => itemToResult(frame, item, depth));
  if (value instanceof MapValue)
    return toObject([...value.entries].map(([key, item]) => [String(key), itemToResult(frame, item, depth)]));
  if (value instanceof Timestamp) return new Date(epochMs(value));
  if (value instanceof Duration) return formatDuration(value);
  if (value instanceof Optional) return value.value === undefined ? null : toResult(frame, value.value, depth + 1);
  return (value as TypeValue).name;
}

function copyData(frame: Frame, value: object, depth: number): unknown {
  if (Array.isArray(value)) return value.map((item) => itemToResult(frame, fromData(item) ?? null, depth));
  const entries = Object.entries(value).flatMap(([key, item]): [string, unknown][] => {
    const read = fromData(item);
    return read === undefined ? [] : [[key, itemToResult(frame, read, depth)]];
  });
  return toObject(entries);
}

function itemToResult(frame: Frame, item: Value, depth: number): unknown {
  charge(frame, 2);
  return toResult(frame, item, depth + 1);
}

// Object.fromEntries creates an own property for every key, including "__proto__".
const toObject = (entries: readonly [string, unknown][]): object => Object.fromEntries(entries);
