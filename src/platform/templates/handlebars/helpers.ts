import { listFilters } from "../filters/list-filters.ts";
import { mathFilters } from "../filters/math-filters.ts";
import { textFilters } from "../filters/text-filters.ts";
import { lowerCase, upperCase } from "../formats/casing.ts";
import { formatHelpers } from "../formats/formats.ts";
import type { Helper } from "../helper.ts";
import type { Run } from "../run.ts";
import { isBlank, isSame, jsonOf, memberOf, orderOf, textOf, unwrapSafe } from "../values.ts";

/** Whether a value is truthy in Handlebars. */
export function isTrue(value: unknown): boolean {
  const given = unwrapSafe(value);
  return Boolean(given) && !(Array.isArray(given) && given.length === 0);
}

const comparison =
  (holds: (order: number) => boolean): Helper =>
  (run, [left, right]) =>
    holds(orderOf(run, left, right));

/** Helpers that only test their arguments, so that a missing argument is not reported. */
export const testHelpers: ReadonlySet<string> = new Set([
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

/** Triple braces and escaping by default take the place of these filters. */
const escapingFilters: ReadonlySet<string> = new Set(["escape", "escape_once", "raw", "newline_to_br"]);

/** The helpers that give a value: the filters of Liquid by their names, and those of Handlebars itself. */
export const valueHelpers: ReadonlyMap<string, Helper> = new Map<string, Helper>([
  ...[...textFilters, ...listFilters, ...mathFilters].filter(([name]) => !escapingFilters.has(name)),
  ...formatHelpers,
  ["eq", (run, [left, right]) => isSame(run, left, right)],
  ["ne", (run, [left, right]) => !isSame(run, left, right)],
  ["gt", comparison((order) => order > 0)],
  ["lt", comparison((order) => order < 0)],
  ["gte", comparison((order) => order >= 0)],
  ["lte", comparison((order) => order <= 0)],
  ["and", (_, args) => args.find((arg) => !isTrue(arg)) ?? args.at(-1)],
  ["or", (_, args) => args.find(isTrue) ?? args.at(-1)],
  ["not", (_, [value]) => !isTrue(value)],
  ["default", (_, args) => args.find((arg) => !isBlank(arg)) ?? args.at(-1)],
  ["upper", (run, [value]) => upperCase(chargedText(run, value), run.locale)],
  ["lower", (run, [value]) => lowerCase(chargedText(run, value), run.locale)],
  ["url_encode", (run, [value]) => run.chargeText(encodeURIComponent(chargedText(run, value).toWellFormed()))],
  ["json", (run, [value]) => jsonOf(run, value)],
  ["lookup", (run, [value, key]) => memberOf(value, textOf(run, key, ","))],
]);

function chargedText(run: Run, value: unknown): string {
  return run.chargeText(textOf(run, value, ","));
}
