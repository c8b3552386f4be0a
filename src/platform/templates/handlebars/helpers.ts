import { lowerCase, upperCase } from "../formats/casing.ts";
import { formatHelpers } from "../formats/formats.ts";
import type { Helper } from "../helper.ts";
import type { Run } from "../run.ts";
import { isBlank, jsonOf, memberOf, orderOf, plain, same, textOf } from "../values.ts";

/** Whether Handlebars takes a value for true. */
export function isTrue(value: unknown): boolean {
  const given = plain(value);
  return Boolean(given) && !(Array.isArray(given) && given.length === 0);
}

const ordered =
  (holds: (order: number) => boolean): Helper =>
  (run, [left, right]) =>
    holds(orderOf(run, left, right));

/** Helpers whose arguments are tested, so that a missing one is nothing to speak of. */
export const testing: ReadonlySet<string> = new Set([
  "eq",
  "ne",
  "gt",
  "lt",
  "gte",
  "lte",
  "and",
  "or",
  "not",
  "default",
]);

/** The helpers that give a value. */
export const valueHelpers: ReadonlyMap<string, Helper> = new Map<string, Helper>([
  ...formatHelpers,
  ["eq", (run, [left, right]) => same(run, left, right)],
  ["ne", (run, [left, right]) => !same(run, left, right)],
  ["gt", ordered((order) => order > 0)],
  ["lt", ordered((order) => order < 0)],
  ["gte", ordered((order) => order >= 0)],
  ["lte", ordered((order) => order <= 0)],
  ["and", (_, args) => args.find((arg) => !isTrue(arg)) ?? args.at(-1)],
  ["or", (_, args) => args.find(isTrue) ?? args.at(-1)],
  ["not", (_, [value]) => !isTrue(value)],
  ["default", (_, args) => args.find((arg) => !isBlank(arg)) ?? args.at(-1)],
  ["upper", (run, [value]) => upperCase(passedText(run, value), run.locale)],
  ["lower", (run, [value]) => lowerCase(passedText(run, value), run.locale)],
  ["url_encode", (run, [value]) => run.passed(encodeURIComponent(passedText(run, value).toWellFormed()))],
  ["json", (run, [value]) => jsonOf(run, value)],
  ["lookup", (run, [value, key]) => memberOf(value, textOf(run, key, ","))],
]);

function passedText(run: Run, value: unknown): string {
  return run.passed(textOf(run, value, ","));
}
