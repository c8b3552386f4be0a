import {
  balanceBrackets,
  changeOutsideQuotes,
  nearestName,
  plainQuotes,
  repairText,
  replaceWord,
  type TextRepair,
} from "../../../../../platform/text/index.ts";
import type { Catalogue } from "../catalogue.ts";
import { aggregations, functions } from "./vocabulary.ts";

/** What may be before parentheses. */
const called = [...functions.keys(), ...aggregations.keys(), "by", "without", "and", "or", "unless", "bool"];

/** The operators and the values of matchers: `{status: failed}`, `{status == "failed"}`. */
const respellMatchers: TextRepair = (text) =>
  text.replaceAll(/\{[^{}]*\}/g, (braces) =>
    changeOutsideQuotes(braces, (code) => code.replaceAll(/\s*(?:==|:)\s*/g, "=")).replaceAll(
      /([=!]~?\s*)([\w.-]+)(?=\s*[,}])/g,
      '$1"$2"',
    ),
  );

/** The labels of an aggregation without parentheses: `by status`. */
const groupLabels: TextRepair = (text) =>
  changeOutsideQuotes(text, (code) =>
    code.replaceAll(/\b(by|without)\s+(\w+(?:\s*,\s*\w+)*)(?=\s*(?:\(|$))/gi, "$1 ($2)"),
  );

/** Units of durations that are written out: `[5min]`. */
const shortenUnits: TextRepair = (text) =>
  text.replaceAll(
    /\[\s*(\d+)\s*(s|m|h|d)[a-z]*\s*\]/gi,
    (_, count: string, unit: string) => `[${count}${unit.toLowerCase()}]`,
  );

/** Series without the window that a function needs. */
const addWindow: TextRepair = (text, problem) => {
  const name = /argument \d of (\w+) must be series with a window/.exec(problem)?.[1];
  return name === undefined
    ? text
    : text.replace(new RegExp(`(\\b${name}\\(\\s*\\w+(?:\\{[^{}]*\\})?)(\\s*\\))`), "$1[5m]$2");
};

/** Mistyped functions, which the grammar does not know. */
const nameCalls: TextRepair = (text, problem) => {
  if (!problem.includes("must be PromQL")) return text;
  return changeOutsideQuotes(text, (code) =>
    code.replaceAll(/\b\w+(?=\s*\()/g, (word) =>
      called.includes(word.toLowerCase()) ? word : (nearestName(word.toLowerCase(), called) ?? word),
    ),
  );
};

/** Repairs a query that is not accepted; undefined if that is not possible without knowing what is meant. */
export function repairQuery(
  query: string,
  catalogue: Catalogue,
  problemOf: (query: string) => string | undefined,
): string | undefined {
  const rename: TextRepair = (text, problem) => {
    const [, word = ""] =
      /(\w+) is not in the catalogue|must not (?:call|use the aggregation) (\w+)|(\w+) is not a label/
        .exec(problem)
        ?.filter((each) => each !== undefined) ?? [];
    const labels = /choose from ([\w, ]+)/.exec(problem)?.[1]?.split(", ");
    const known = labels ?? (problem.includes("must not") ? called : [...catalogue.series.keys(), ...called]);
    const near = word === "" ? undefined : nearestName(word.toLowerCase(), known);
    return near === undefined ? text : replaceWord(text, word, near);
  };
  return repairText(query, problemOf, [
    plainQuotes,
    nameCalls,
    rename,
    addWindow,
    shortenUnits,
    respellMatchers,
    groupLabels,
    balanceBrackets,
  ]);
}
