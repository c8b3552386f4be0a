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
 * A value as the caller sees it: plain, JSON-like, and its own copy. Ints become numbers where that is exact, timestamps
 * Dates, durations text such as `3.5s`, an empty optional null. What is copied is paid for: a small expression can
 * stand for an enormous answer.
 */
export function toAnswer(frame: Frame, value: Value, depth = 0): unknown {
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
      return value === null ? null : objectAnswer(frame, value, depth);
  }
}

function objectAnswer(frame: Frame, value: object, depth: number): unknown {
  if (depth > LIMITS.valueDepth) throw new CelError("budget", "The answer is nested too deeply.");
  charge(frame, 1);
  if (!(value instanceof Internal)) return copyData(frame, value, depth);
  if (value instanceof ListValue) return value.items.map((item) => itemAnswer(frame, item, depth));
  if (value instanceof MapValue)
    return objectOf([...value.entries].map(([key, item]) => [String(key), itemAnswer(frame, item, depth)]));
  if (value instanceof Timestamp) return new Date(epochMs(value));
  if (value instanceof Duration) return formatDuration(value);
  if (value instanceof Optional) return value.value === undefined ? null : toAnswer(frame, value.value, depth + 1);
  return (value as TypeValue).name;
}

function copyData(frame: Frame, value: object, depth: number): unknown {
  if (Array.isArray(value)) return value.map((item) => itemAnswer(frame, fromData(item) ?? null, depth));
  const kept = Object.entries(value).flatMap(([key, item]): [string, unknown][] => {
    const read = fromData(item);
    return read === undefined ? [] : [[key, itemAnswer(frame, read, depth)]];
  });
  return objectOf(kept);
}

function itemAnswer(frame: Frame, item: Value, depth: number): unknown {
  charge(frame, 2);
  return toAnswer(frame, item, depth + 1);
}

// Object.fromEntries makes every key an own property, "__proto__" too.
const objectOf = (entries: readonly [string, unknown][]): object => Object.fromEntries(entries);
