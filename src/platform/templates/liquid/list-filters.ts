import { lowerCase } from "../formats/casing.ts";
import type { Helper } from "../helper.ts";
import type { Run } from "../run.ts";
import { joined, numberOf, orderOf, plain, textOf } from "../values.ts";
import { isLiquidTrue, liquidEquals, listOf, propertyOf } from "./values.ts";

/** A filter on a list: going through it is counted. */
const onList =
  (change: (list: readonly unknown[], run: Run, args: readonly unknown[]) => unknown): Helper =>
  (run, args) => {
    const list = listOf(run, args[0]);
    run.spend(1 + list.length);
    return change(list, run, args);
  };

/** Filters on lists, and those that take texts as lists of letters. */
export const listFilters: readonly (readonly [string, Helper])[] = [
  ["join", (run, [value, separator]) => joined(run, listOf(run, value), separatorOf(run, separator))],
  ["concat", onList((list, run, [, more]) => [...list, ...counted(run, listOf(run, more))])],
  ["reverse", onList((list) => list.toReversed())],
  ["sort", onList((list, run, [, key]) => sorted(run, list, (item) => keyed(run, item, key)))],
  [
    "sort_natural",
    onList((list, run, [, key]) => sorted(run, list, (item) => smallLetters(run, keyed(run, item, key)))),
  ],
  ["map", onList((list, run, [, key]) => list.map((item) => keyed(run, item, key)))],
  ["where", onList((list, run, [, key, value]) => list.filter((item) => fits(run, keyed(run, item, key), value)))],
  ["reject", onList((list, run, [, key, value]) => list.filter((item) => !fits(run, keyed(run, item, key), value)))],
  ["find", onList((list, run, [, key, value]) => list.find((item) => fits(run, keyed(run, item, key), value)))],
  ["compact", onList((list) => list.filter((item) => item !== null && item !== undefined))],
  ["uniq", onList((list, run, [, key]) => unique(run, list, (item) => keyed(run, item, key)))],
  ["sum", onList((list, run, [, key]) => sum(list.map((item) => numberOf(keyed(run, item, key)))))],
  ["size", (run, [value]) => propertyOf(run, value, "size") ?? 0],
  ["first", (_, [value]) => edge(plain(value), 0)],
  ["last", (_, [value]) => edge(plain(value), -1)],
  ["slice", slice],
];

function counted<T>(run: Run, list: readonly T[]): readonly T[] {
  run.spend(list.length);
  return list;
}

function separatorOf(run: Run, separator: unknown): string {
  return separator === undefined ? " " : textOf(run, separator, "");
}

/** A property of an item, or the item itself when none is named. */
function keyed(run: Run, item: unknown, key: unknown): unknown {
  return key === undefined ? item : propertyOf(run, item, key);
}

function fits(run: Run, value: unknown, wanted: unknown): boolean {
  return wanted === undefined ? isLiquidTrue(value) : liquidEquals(run, value, wanted);
}

function smallLetters(run: Run, value: unknown): unknown {
  const given = plain(value);
  return typeof given === "string" ? lowerCase(run.passed(given), run.locale) : given;
}

/** In order; what has none, such as nothing at all, comes last. */
function sorted(run: Run, list: readonly unknown[], keyOf: (item: unknown) => unknown): unknown[] {
  const keys = list.map((item) => ({ item, key: keyOf(item) ?? undefined }));
  keys.sort((left, right) => {
    run.spend(1);
    if (left.key === undefined || right.key === undefined) {
      return Number(left.key === undefined) - Number(right.key === undefined);
    }
    return orderOf(run, left.key, right.key) || 0;
  });
  return keys.map(({ item }) => item);
}

function unique(run: Run, list: readonly unknown[], keyOf: (item: unknown) => unknown): unknown[] {
  const seen = new Set<unknown>();
  return list.filter((item) => {
    const key = plain(keyOf(item));
    if (typeof key === "string") run.passed(key);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => (Number.isNaN(number) ? total : total + number), 0);
}

function edge(value: unknown, at: 0 | -1): unknown {
  return Array.isArray(value) || typeof value === "string" ? value.at(at) : undefined;
}

function slice(run: Run, [value, start, count]: readonly unknown[]): unknown {
  const given = plain(value);
  const from = Math.trunc(numberOf(start)) || 0;
  const length = count === undefined ? 1 : Math.max(Math.trunc(numberOf(count)) || 0, 0);
  const whole = Array.isArray(given) ? given : textOf(run, given, "");
  run.spend(1);
  const begin = from < 0 ? Math.max(whole.length + from, 0) : from;
  const part = whole.slice(begin, begin + length);
  if (Array.isArray(part)) run.spend(part.length);
  else run.passed(part);
  return part;
}
