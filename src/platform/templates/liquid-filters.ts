import { formatHelpers } from "./formats.ts";
import { listFilters } from "./liquid-list-filters.ts";
import { mathFilters } from "./liquid-math-filters.ts";
import { textFilters } from "./liquid-text-filters.ts";
import { type Helper, isBlank, jsonOf, plain } from "./values.ts";

/** Filters for which a missing value is nothing to speak of. */
export const testedFirst: ReadonlySet<string> = new Set(["default"]);

/** The filters that there are, each of which counts its work. */
export const liquidFilters: ReadonlyMap<string, Helper> = new Map<string, Helper>([
  ...textFilters,
  ...listFilters,
  ...mathFilters,
  ...formatHelpers,
  [
    "default",
    (_, [value, otherwise], named) =>
      isBlank(value) && !(plain(value) === false && named.allow_false === true) ? otherwise : value,
  ],
  ["json", (run, [value]) => jsonOf(run, value)],
]);
