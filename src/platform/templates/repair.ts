import { nearestName, plainQuotes, repairText, type TextRepair } from "../text/index.ts";
import { testHelpers, valueHelpers } from "./handlebars/helpers.ts";
import { liquidFilters } from "./liquid/filters.ts";
import { tagNames } from "./liquid/tags.ts";
import { compileTemplate, type Engine } from "./template.ts";
import { TemplateError } from "./template-error.ts";

/** Closing braces that are missing: `{{ name }`. */
const closeBraces: TextRepair = (text) => text.replaceAll(/(\{\{[^{}]+)\}(?!\})/g, "$1}}");

/** Blocks that are not closed, or closed under a mistyped name. */
const closeHandlebarsBlocks: TextRepair = (text) => {
  const open: string[] = [];
  const named = text.replaceAll(/\{\{(~?)([#/])\s*([\w.-]+)/g, (tag, trim: string, sign: string, name: string) => {
    if (sign === "#") open.push(name);
    const wanted = sign === "/" ? open.pop() : undefined;
    return wanted === undefined ? tag : `{{${trim}/${wanted}`;
  });
  return open.reduceRight((result, name) => `${result}{{/${name}}}`, named);
};

/** A block without its `#`: `{{if paid}}`. */
const markBlocks: TextRepair = (text) => text.replaceAll(/\{\{(if|unless|each|with) /g, "{{#$1 ");

const nameHelper: TextRepair = (text, problem) =>
  rename(text, /There is no helper named ([\w.-]+)\./.exec(problem)?.[1], [...testHelpers, ...valueHelpers.keys()]);

const closeLiquidBlocks: TextRepair = (text, problem) => {
  const name = /^tag \{%-?\s*(\w+).*not closed$/s.exec(problem)?.[1];
  return name === undefined ? text : `${text}{% end${name} %}`;
};

const nameLiquidParts: TextRepair = (text, problem) => {
  const ends = ["if", "unless", "for", "case", "comment", "raw", "capture"].map((name) => `end${name}`);
  const tag = /^tag "(\w+)" not found/.exec(problem)?.[1];
  const tags = [...tagNames, "else", "elsif", "when", ...ends].filter((name) => name.length > 1);
  const named = rename(text, tag, tags);
  return rename(named, /^undefined filter: (\w+)/.exec(problem)?.[1], [...liquidFilters.keys()]);
};

/** Operators of Handlebars and of programming languages in the tags of Liquid. */
const respellLiquid: TextRepair = (text) =>
  text
    .replaceAll(/\{%(-?)\s*else\s+if\b/g, "{%$1 elsif")
    .replaceAll(/(\{%-?\s*(?:els)?if\s[^%=]*[^%=!<>])=([^%=])/g, "$1==$2");

const repairs: Readonly<Record<Engine, readonly TextRepair[]>> = {
  handlebars: [closeBraces, markBlocks, closeHandlebarsBlocks, nameHelper, plainQuotes],
  liquid: [closeBraces, nameLiquidParts, respellLiquid, closeLiquidBlocks, plainQuotes],
};

/** Repairs a template that does not compile; undefined if that is not possible without knowing what is meant. */
export function repairTemplate(engine: Engine, source: string): string | undefined {
  const problemOf = (text: string): string | undefined => {
    try {
      compileTemplate(engine, text);
      return undefined;
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      return error.message;
    }
  };
  return repairText(source, problemOf, repairs[engine]);
}

function rename(text: string, name: string | undefined, known: readonly string[]): string {
  const meant = name === undefined ? undefined : nearestName(name, known);
  if (name === undefined || meant === undefined) return text;
  return text.replaceAll(/\{\{.*?\}\}|\{%.*?%\}/gs, (tag) =>
    tag.replaceAll(new RegExp(`(?<![\\w.'"-])${name.replaceAll(/\W/g, "\\$&")}(?![\\w.-])`, "g"), () => meant),
  );
}
