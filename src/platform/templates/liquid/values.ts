import type { Run } from "../run.ts";
import { keysOf, memberOf, numberOf, plain, same } from "../values.ts";

/** What the words `empty` and `blank` stand for. */
export const Empty: unique symbol = Symbol("empty");
export const Blank: unique symbol = Symbol("blank");

/** Numbers from one to another, which are not made before they are asked for. */
export class Range {
  readonly from: number;
  readonly length: number;

  constructor(from: number, to: number) {
    this.from = from;
    // Nothing for what is no number.
    this.length = to >= from ? to - from + 1 : 0;
  }

  at(index: number): number {
    return this.from + index;
  }
}

/** Whether Liquid takes a value for true: all are, but for false and nothing. */
export function isLiquidTrue(value: unknown): boolean {
  return value !== false && value !== undefined && value !== null;
}

/** Whether two values are the same, one of which may be `empty` or `blank`. */
export function liquidEquals(run: Run, left: unknown, right: unknown): boolean {
  if (left === Empty || left === Blank) return isNothing(run, right, left);
  if (right === Empty || right === Blank) return isNothing(run, left, right);
  return same(run, left, right);
}

function isNothing(run: Run, value: unknown, kind: typeof Empty | typeof Blank): boolean {
  const given = plain(value);
  if (kind === Blank && (given === undefined || given === null || given === false)) return true;
  if (typeof given === "string") return given === "" || (kind === Blank && run.passed(given).trim() === "");
  if (Array.isArray(given)) return given.length === 0;
  return given !== null && typeof given === "object" && keysOf(run, given).length === 0;
}

/** A property of a value: an own member, an item by its number, or `size`, `first` and `last`. */
export function propertyOf(run: Run, value: unknown, key: unknown): unknown {
  const given = plain(value);
  if (Array.isArray(given)) return itemOf(given, key);
  const name = typeof key === "symbol" ? "" : String(plain(key) ?? "");
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

/** What a filter sees as a list: a list itself, the numbers of a range, one item for anything else that there is. */
export function listOf(run: Run, value: unknown): readonly unknown[] {
  if (value instanceof Range) {
    run.spend(value.length);
    return Array.from({ length: value.length }, (_, index) => value.at(index));
  }
  const given = plain(value);
  if (Array.isArray(given)) return given;
  return given === undefined || given === null ? [] : [given];
}

/** What a loop goes through: the items of a list, the numbers of a range, an object's keys with their values. */
export function itemsOf(run: Run, value: unknown): { readonly length: number; at(index: number): unknown } {
  if (value instanceof Range) return value;
  const given = plain(value);
  if (Array.isArray(given)) return given;
  if (typeof given === "string") return given === "" ? [] : [given];
  if (given === null || typeof given !== "object") return [];
  return keysOf(run, given).map((key) => [key, memberOf(given, key)]);
}
