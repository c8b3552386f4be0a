import { listFilters } from "../filters/list-filters.ts";
import { mathFilters } from "../filters/math-filters.ts";
import { textFilters } from "../filters/text-filters.ts";
import { formatHelpers } from "../formats/formats.ts";
import type { Helper } from "../helper.ts";
import { isBlank, jsonOf, unwrapSafe } from "../values.ts";

/** Filters that only test their input, so that a missing value is not reported. */
export const testFilters: ReadonlySet<string> = new Set(["default"]);

/** All supported filters. Each charges for its work. */
export const liquidFilters: ReadonlyMap<string, Helper> = new Map<string, Helper>([
  ...textFilters,
  ...listFilters,
  ...mathFilters,
  ...formatHelpers,
  [
    "default",
    (_, [value, otherwise], named) =>
      isBlank(value) && !(unwrapSafe(value) === false && named.allow_false === true) ? otherwise : value,
  ],
  ["json", (run, [value]) => jsonOf(run, value)],
]);
