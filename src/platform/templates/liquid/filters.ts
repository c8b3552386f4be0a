import { formatHelpers } from "../formats/formats.ts";
import type { Helper } from "../helper.ts";
import { isBlank, jsonOf, plain } from "../values.ts";
import { listFilters } from "./list-filters.ts";
import { mathFilters } from "./math-filters.ts";
import { textFilters } from "./text-filters.ts";

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
