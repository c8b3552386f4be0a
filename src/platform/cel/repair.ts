import {
  balanceBrackets,
  changeOutsideQuotes,
  nearestName,
  plainQuotes,
  repairText,
  replaceWord,
  type TextRepair,
} from "../text/index.ts";
import { CelError } from "./cel-error.ts";
import type { CelType, CelVariables } from "./cel-type.ts";
import { compileCel } from "./compile.ts";
import { FUNCTIONS } from "./functions/functions.ts";

const macros = ["has", "all", "exists", "exists_one", "map", "filter", "matches", "or", "orValue"];
/** Functions of other languages, with those of CEL that do the same. */
const otherFunctions: Readonly<Record<string, string>> = {
  includes: "contains",
  any: "exists",
  some: "exists",
  every: "all",
  len: "size",
  length: "size",
  toLowerCase: "lowerAscii",
  lower: "lowerAscii",
  toUpperCase: "upperAscii",
  upper: "upperAscii",
};
const otherConstants: Readonly<Record<string, string>> = {
  True: "true",
  False: "false",
  TRUE: "true",
  FALSE: "false",
  None: "null",
  nil: "null",
  undefined: "null",
};

/** Operators of other languages, in order. */
const operators: readonly (readonly [RegExp, string])[] = [
  [/!==/g, "!="],
  [/===/g, "=="],
  [/<>/g, "!="],
  [/=</g, "<="],
  [/=>/g, ">="],
  [/(?<![=!<>])=(?![=~])/g, "=="],
  [/\band\b/gi, "&&"],
  [/\bor\b(?!\s*\()/gi, "||"],
  [/\bnot\s+(?=\(|[\w.]+\s*(?:$|&&|\|\||\)))/gi, "!"],
  [/(?<!&)&(?!&)/g, "&&"],
  [/(?<!\|)\|(?!\|)/g, "||"],
  [/;\s*$/g, ""],
];

const respellOperators: TextRepair = (text, problem) =>
  problem.startsWith("syntax")
    ? changeOutsideQuotes(text, (code) => operators.reduce((result, [from, to]) => result.replaceAll(from, to), code))
    : text;

/** Repairs an expression that does not compile; undefined if that is not possible without knowing what is meant. */
export function repairExpression(source: string, variables: CelVariables, expected?: CelType): string | undefined {
  const problemOf = (text: string): string | undefined => {
    try {
      compileCel(text, variables, expected);
      return undefined;
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      return `${error.kind}: ${error.message}`;
    }
  };
  return repairText(source, problemOf, [
    (text, problem) => (problem.startsWith("syntax") ? plainQuotes(text) : text),
    respellOperators,
    (text, problem) => (problem.startsWith("syntax") ? balanceBrackets(text) : text),
    (text, problem) => nameVariable(text, problem, variables),
    nameFunction,
    (text, problem) =>
      problem.endsWith("has no fields.")
        ? changeOutsideQuotes(text, (code) => code.replaceAll(/\.length\b/g, ".size()"))
        : text,
  ]);
}

function nameVariable(text: string, problem: string, variables: CelVariables): string {
  const name = /There is no variable '(\w+)'/.exec(problem)?.[1];
  if (name === undefined) return text;
  const meant = otherConstants[name] ?? nearestName(name, Object.keys(variables));
  return meant === undefined ? text : replaceWord(text, name, meant);
}

function nameFunction(text: string, problem: string): string {
  const name = /There is no function (\w+)\(\)/.exec(problem)?.[1];
  if (name === undefined) return text;
  const names = [...[...FUNCTIONS.keys()].map((each) => each.replace(/^\./, "")), ...macros];
  const meant = otherFunctions[name] ?? nearestName(name, names);
  return meant === undefined ? text : replaceWord(text, name, meant);
}
