import type { Run } from "../run.ts";
import { isSame, keysOf, memberOf, numberOf, unwrapSafe } from "../values.ts";

/** The values of the literals `empty` and `blank`. */
export const Empty: unique symbol = Symbol("empty");
export const Blank: unique symbol = Symbol("blank");

/** A lazy range of integers. */
export class Range {
  readonly from: number;
  readonly length: number;

  constructor(from: number, to: number) {
    this.from = from;
    // The range is empty if a bound is NaN.
    this.length = to >= from ? to - from + 1 : 0;
  }

  at(index: number): number {
    return this.from + index;
  }
}

/** Whether a value is truthy in Liquid: all values except false, null and undefined. */
export function isLiquidTrue(value: unknown): boolean {
  return value !== false && value !== undefined && value !== null;
}

/** Whether two values are equal; either may be `empty` or `blank`. */
export function liquidEquals(run: Run, left: unknown, right: unknown): boolean {
  if (left === Empty || left === Blank) return isEmptyOrBlank(run, right, left);
  if (right === Empty || right === Blank) return isEmptyOrBlank(run, left, right);
  return isSame(run, left, right);
}

function isEmptyOrBlank(run: Run, value: unknown, kind: typeof Empty | typeof Blank): boolean {
  const given = unwrapSafe(value);
  if (kind === Blank && (given === undefined || given === null || given === false)) return true;
  if (typeof given === "string") return given === "" || (kind === Blank && run.chargeText(given).trim() === "");
  if (Array.isArray(given)) return given.length === 0;
  return given !== null && typeof given === "object" && keysOf(run, given).length === 0;
}

/** A property of a value: an own member, an item by its index, or `size`, `first` and `last`. */
export function propertyOf(run: Run, value: unknown, key: unknown): unknown {
  const given = unwrapSafe(value);
  if (Array.isArray(given)) return itemOf(given, key);
  const name = typeof key === "symbol" ? "" : String(unwrapSafe(key) ?? "");
  const member = given !== null && typeof given === "object" ? memberOf(given, name) : undefined;
  if (member !== undefined || name !== "size") return member;
  if (typeof given === "string") return given.length;
  return given !== null && typeof given === "object" ? keysOf(run, given).length : undefined;
}

function itemOf(list: readonly unknown[], key: unknown): unknown {
  if (key === "size") return list.length;
  if (key === "first") return list[0];
  if (key === "last") return list.at(-1);
  const index = numberOf(key);
  return Number.isInteger(index) ? list.at(index) : undefined;
}

/** Converts a value to a list for a filter: a list, the numbers of a range, or one item for any other value. */
export function listOf(run: Run, value: unknown): readonly unknown[] {
  if (value instanceof Range) {
    run.spend(value.length);
    return Array.from({ length: value.length }, (_, index) => value.at(index));
  }
  const given = unwrapSafe(value);
  if (Array.isArray(given)) return given;
  return given === undefined || given === null ? [] : [given];
}

/** The items of a loop: those of a list, the numbers of a range, or an object's keys with their values. */
export function itemsOf(run: Run, value: unknown): { readonly length: number; at(index: number): unknown } {
  if (value instanceof Range) return value;
  const given = unwrapSafe(value);
  if (Array.isArray(given)) return given;
  if (typeof given === "string") return given === "" ? [] : [given];
  if (given === null || typeof given !== "object") return [];
  return keysOf(run, given).map((key) => [key, memberOf(given, key)]);
}
