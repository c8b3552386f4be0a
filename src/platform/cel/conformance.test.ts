import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { conformanceCases, runCase } from "./testing/conformance.ts";

// The sections of the official suite that this engine supports. The others are about protobuf messages and enums, uint and
// bytes, and unsupported extensions.
const CLAIMED: readonly string[] = [
  "basic",
  "comparisons",
  "conversions",
  "fields/in",
  "fields/map_fields",
  "fields/map_has",
  "fields/quoted_map_fields",
  "fp_math",
  "integer_math",
  "lists",
  "logic",
  "macros",
  "optionals",
  "parse",
  "plumbing",
  "string",
  "string_ext/ascii_casing",
  "string_ext/char_at",
  "string_ext/index_of",
  "string_ext/join",
  "string_ext/last_index_of",
  "string_ext/replace",
  "string_ext/split",
  "string_ext/substring",
  "string_ext/trim",
  "timestamps",
];

const EXACT = "a number is compared with another exactly, not after rounding it to a double";
const DOT = "a double is written with a digit before its dot";
const BACKTICKS = "a field in backticks is not read; a['b-c'] says the same";
const ENTRIES = "optional entries of a list or a map are not read";
const MACRO = "optMap, optFlatMap and ofNonZeroValue are not on offer";

const DEVIATIONS: Readonly<Record<string, string>> = {
  "comparisons/lt_literal/not_lt_dyn_int_big_lossy_double": EXACT,
  "comparisons/gt_literal/not_gt_dyn_big_double_int": EXACT,
  "comparisons/lte_literal/lte_dyn_big_double_int": EXACT,
  "comparisons/gte_literal/gte_dyn_int_big_lossy_double": EXACT,
  "comparisons/gt_literal/not_gt_double": DOT,
  "fields/quoted_map_fields/field_access_slash": BACKTICKS,
  "fields/quoted_map_fields/field_access_dash": BACKTICKS,
  "fields/quoted_map_fields/field_access_dot": BACKTICKS,
  "fields/quoted_map_fields/has_field_slash": BACKTICKS,
  "fields/quoted_map_fields/has_field_dash": BACKTICKS,
  "fields/quoted_map_fields/has_field_dot": BACKTICKS,
  "optionals/optionals/null_non_zero_value": MACRO,
  "optionals/optionals/none_optMap_hasValue": MACRO,
  "optionals/optionals/empty_map_optFlatMap_hasValue": MACRO,
  "optionals/optionals/map_empty_submap_optFlatMap_hasValue": MACRO,
  "optionals/optionals/map_submap_subkey_optFlatMap_value": MACRO,
  "optionals/optionals/map_submap_optFlatMap_value": MACRO,
  "optionals/optionals/map_optindex_optFlatMap_optional_ofNonZeroValue_hasValue": MACRO,
  "optionals/optionals/optional_of_optMap_value": MACRO,
  "optionals/optionals/optional_ofNonZeroValue_or_optional_value": MACRO,
  "optionals/optionals/optional_chaining_1": MACRO,
  "optionals/optionals/optional_chaining_12": ENTRIES,
  "optionals/optionals/optional_chaining_13": ENTRIES,
  "optionals/optionals/optional_chaining_14": ENTRIES,
  "optionals/optionals/optional_chaining_15": ENTRIES,
  "optionals/optionals/optional_chaining_16": ENTRIES,
  "optionals/optionals/map_optional_entry_has": ENTRIES,
};

const isClaimed = (section: string): boolean =>
  CLAIMED.some((claim) => section === claim || section.startsWith(`${claim}/`));

suite("the official conformance suite", () => {
  const results = conformanceCases(isClaimed).map((item) => ({ item, outcome: runCase(item) }));
  const deviating = results.flatMap(({ item, outcome }) =>
    outcome.kind === "deviates"
      ? [{ name: `${item.section}/${item.name}`, expr: item.test.expr, found: outcome.found }]
      : [],
  );

  test("every supported section conforms, except for the listed deviations", () => {
    assert.deepEqual(
      deviating.filter(({ name }) => DEVIATIONS[name] === undefined),
      [],
    );
  });

  test("every listed deviation deviates", () => {
    const names = new Set(deviating.map(({ name }) => name));
    assert.deepEqual(
      Object.keys(DEVIATIONS).filter((name) => !names.has(name)),
      [],
    );
  });

  test("most cases conform, and every supported section has cases that run", () => {
    const conforming = results.filter(({ outcome }) => outcome.kind === "conforms");
    assert.ok(conforming.length >= 800, `${conforming.length} cases conform`);
    for (const claim of CLAIMED)
      assert.ok(
        results.some(({ item, outcome }) => item.section.startsWith(claim) && outcome.kind !== "outside"),
        `nothing of ${claim} was run`,
      );
  });
});
