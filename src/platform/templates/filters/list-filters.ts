import { lowerCase } from "../formats/casing.ts";
import type { Helper } from "../helper.ts";
import { isLiquidTrue, liquidEquals, listOf, propertyOf } from "../liquid/values.ts";
import type { Run } from "../run.ts";
import { joinItems, numberOf, orderOf, textOf, unwrapSafe } from "../values.ts";

/** Creates a filter on a list, which charges one step per item. */
const onList =
  (change: (list: readonly unknown[], run: Run, args: readonly unknown[]) => unknown): Helper =>
  (run, args) => {
    const list = listOf(run, args[0]);
    run.spend(1 + list.length);
    return change(list, run, args);
  };

/** Filters on lists, and filters that treat text as a list of characters. */
export const listFilters: readonly (readonly [string, Helper])[] = [
  ["join", (run, [value, separator]) => joinItems(run, listOf(run, value), separatorOf(run, separator))],
  ["concat", onList((list, run, [, more]) => [...list, ...charged(run, listOf(run, more))])],
  ["reverse", onList((list) => list.toReversed())],
  ["sort", onList((list, run, [, key]) => sortItems(run, list, (item) => propertyOrItem(run, item, key)))],
  [
    "sort_natural",
    onList((list, run, [, key]) => sortItems(run, list, (item) => toLowerCase(run, propertyOrItem(run, item, key)))),
  ],
  ["map", onList((list, run, [, key]) => list.map((item) => propertyOrItem(run, item, key)))],
  [
    "where",
    onList((list, run, [, key, value]) =>
      list.filter((item) => matchesValue(run, propertyOrItem(run, item, key), value)),
    ),
  ],
  [
    "reject",
    onList((list, run, [, key, value]) =>
      list.filter((item) => !matchesValue(run, propertyOrItem(run, item, key), value)),
    ),
  ],
  [
    "find",
    onList((list, run, [, key, value]) =>
      list.find((item) => matchesValue(run, propertyOrItem(run, item, key), value)),
    ),
  ],
  ["compact", onList((list) => list.filter((item) => item !== null && item !== undefined))],
  ["uniq", onList((list, run, [, key]) => uniqueItems(run, list, (item) => propertyOrItem(run, item, key)))],
  ["sum", onList((list, run, [, key]) => sum(list.map((item) => numberOf(propertyOrItem(run, item, key)))))],
  ["size", (run, [value]) => propertyOf(run, value, "size") ?? 0],
  ["first", (_, [value]) => edge(unwrapSafe(value), 0)],
  ["last", (_, [value]) => edge(unwrapSafe(value), -1)],
  ["slice", slice],
];

function charged<T>(run: Run, list: readonly T[]): readonly T[] {
  run.spend(list.length);
  return list;
}

function separatorOf(run: Run, separator: unknown): string {
  return separator === undefined ? " " : textOf(run, separator, "");
}

/** A property of an item, or the item itself if no key is given. */
function propertyOrItem(run: Run, item: unknown, key: unknown): unknown {
  return key === undefined ? item : propertyOf(run, item, key);
}

function matchesValue(run: Run, value: unknown, wanted: unknown): boolean {
  return wanted === undefined ? isLiquidTrue(value) : liquidEquals(run, value, wanted);
}

function toLowerCase(run: Run, value: unknown): unknown {
  const given = unwrapSafe(value);
  return typeof given === "string" ? lowerCase(run.chargeText(given), run.locale) : given;
}

/** Sorts items by key; items without a key come last. */
function sortItems(run: Run, list: readonly unknown[], keyOf: (item: unknown) => unknown): unknown[] {
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

function uniqueItems(run: Run, list: readonly unknown[], keyOf: (item: unknown) => unknown): unknown[] {
  const seen = new Set<unknown>();
  return list.filter((item) => {
    const key = unwrapSafe(keyOf(item));
    if (typeof key === "string") run.chargeText(key);
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
  const given = unwrapSafe(value);
  const from = Math.trunc(numberOf(start)) || 0;
  const length = count === undefined ? 1 : Math.max(Math.trunc(numberOf(count)) || 0, 0);
  const whole = Array.isArray(given) ? given : textOf(run, given, "");
  run.spend(1);
  const begin = from < 0 ? Math.max(whole.length + from, 0) : from;
  const part = whole.slice(begin, begin + length);
  if (Array.isArray(part)) run.spend(part.length);
  else run.chargeText(part);
  return part;
}
