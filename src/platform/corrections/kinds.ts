import type { FindChange } from "./mistake.ts";
import {
  correctName,
  dropNull,
  dropSecondName,
  moveMember,
  repairMember,
  respellName,
  unwrapRequest,
} from "./names.ts";
import { addScheme, addUnit, correctChoice, respellText, trimText } from "./texts.ts";
import {
  addOnlyValue,
  correctEnum,
  correctTime,
  dropRepeatedItems,
  readBoolean,
  readJson,
  readNumber,
  readTimeSpan,
  unwrapList,
  wrapInList,
  writeText,
} from "./values.ts";

/** A kind of mistake: the rules that it breaks, and how it is corrected. */
export interface MistakeKind {
  readonly name: string;
  readonly rules: RegExp;
  readonly find: FindChange;
}

const number = /^type\.(?:u?int(?:32|64)|float|double)$/;
const text = /^string\.(?:pattern|in|email|uri)$/;
const missing = /^(?:required|string\.in|string\.min_len|enum\.not_in)$/;

/** All kinds of mistakes that have a correction, in the order in which they are tried. */
export const mistakeKinds: readonly MistakeKind[] = [
  { name: "field_spelling", rules: /^unknown_field$/, find: respellName },
  { name: "field_in_wrong_object", rules: /^unknown_field$/, find: moveMember },
  { name: "wrapped_request", rules: /^unknown_field$/, find: unwrapRequest },
  { name: "misspelled_field", rules: /^unknown_field$/, find: correctName },
  { name: "field_given_twice", rules: /^duplicate_field$/, find: dropSecondName },
  { name: "null_for_absent", rules: /^type\.null$/, find: dropNull },
  { name: "number_as_text", rules: number, find: readNumber },
  { name: "time_span_with_unit", rules: number, find: readTimeSpan },
  { name: "boolean_as_text", rules: /^type\.bool$/, find: readBoolean },
  { name: "text_as_number", rules: /^type\.string$/, find: writeText },
  { name: "json_as_text", rules: /^type\.(?:object|map|struct|list)$/, find: readJson },
  { name: "single_for_list", rules: /^type\.list$/, find: wrapInList },
  { name: "choice_spelling", rules: /^type\.enum$/, find: correctEnum },
  { name: "time_form", rules: /^type\.timestamp$/, find: correctTime },
  { name: "list_for_single", rules: /^type\.(?!list)/, find: unwrapList },
  { name: "repeated_item", rules: /^repeated\.unique$/, find: dropRepeatedItems },
  { name: "missing_only_value", rules: missing, find: addOnlyValue },
  { name: "choice_spelling", rules: /^string\.in$/, find: correctChoice },
  { name: "surrounding_space", rules: text, find: trimText },
  { name: "time_span_without_unit", rules: /^string\.pattern$/, find: addUnit },
  { name: "missing_scheme", rules: /^string\.uri$/, find: addScheme },
  { name: "text_spelling", rules: /^string\.pattern$/, find: respellText },
  { name: "cel", rules: /^cel\./, find: repairMember },
  { name: "template", rules: /^template\./, find: repairMember },
  { name: "promql", rules: /^promql\./, find: repairMember },
  { name: "misspelled_field", rules: /^unknown_field$/, find: repairMember },
  { name: "document_value", rules: /^(?:choice|duration|range|list|pattern)$/, find: repairMember },
];
