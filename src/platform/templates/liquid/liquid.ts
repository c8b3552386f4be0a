import { Liquid, LiquidError, Output, type Template as Parsed } from "liquidjs";
import { BoundedCache } from "../../cache/bounded-cache.ts";
import { checkSource, limits, partialCharactersMax, partialWeight } from "../limits.ts";
import { Notes, type Template } from "../plan.ts";
import { type Position, TemplateError } from "../template-error.ts";
import type { LiquidScope } from "./expression.ts";
import { liquidFilters } from "./filters.ts";
import { LiquidRun, type Write } from "./scope.ts";
import { compileOutput, compileTag, type LiquidTag, tagNames } from "./tags.ts";

/**
 * Compiles a Liquid template. Only the parser of liquidjs is used. Its own limits check the clock between tags, and a single
 * filter can take seconds, so evaluation is implemented here with every step counted.
 */
export function compileLiquid(source: string): Template {
  checkSource(source, "liquid");
  const scope = newScope();
  const body = compileAll(parse(source), scope);
  const variables = [...scope.read].flatMap(([name, paths]) => (scope.assigned.has(name) ? [] : [...paths]));
  const printed = [...scope.notes.printed].filter((name) => !scope.assigned.has(name));
  return {
    variables: variables.sort(),
    printed: new Set(printed),
    partials: scope.notes.partials,
    render(values, options) {
      const run = new LiquidRun(values, options);
      body(run);
      return run.finish();
    },
  };
}

function newScope(): LiquidScope {
  return { notes: new Notes(), loops: [], assigned: new Set(), read: new Map() };
}

const partialBodies = new BoundedCache<string, Write>(partialCharactersMax);

/** Compiles a partial, or returns it from the cache. */
function compilePartialBody(source: string): Write {
  const known = partialBodies.get(source);
  if (known !== undefined) return known;
  checkSource(source, "liquid");
  const body = compileAll(parse(source), newScope());
  partialBodies.set(source, body, source.length + partialWeight);
  return body;
}

function compileAll(templates: readonly Parsed[], scope: LiquidScope): Write {
  const writes = templates.flatMap((template) => compileOne(template, scope) ?? []);
  if (writes.length === 1) return writes[0]!;
  return (run) => {
    for (const write of writes) {
      write(run);
      if (run.interrupt !== "none") return;
    }
  };
}

function compileOne(template: Parsed, scope: LiquidScope): Write | undefined {
  const position = positionOf(template.token);
  try {
    if (template instanceof Output) return compileOutput(template.value, scope);
    const { str } = template as unknown as { readonly str?: string };
    if (str !== undefined) return str === "" ? undefined : (run) => run.write(str);
    const tag = template as unknown as LiquidTag;
    return scope.notes.compileNested(position, () => compileTag(tag, scope, compileAll, compilePartialBody));
  } catch (error) {
    if (!(error instanceof TemplateError) || error.line !== undefined) throw error;
    throw new TemplateError(error.code, error.message, position);
  }
}

let parser: Liquid | undefined;

/** Creates a parser that supports only our filters and tags; none of them includes or reads files. */
function getParser(): Liquid {
  if (parser !== undefined) return parser;
  parser = new Liquid({
    strictFilters: true,
    ownPropertyOnly: true,
    parseLimit: limits.sourceMax,
    cache: false,
    templates: {},
  });
  for (const name of Object.keys(parser.tags)) if (!tagNames.has(name)) delete parser.tags[name];
  for (const name of Object.keys(parser.filters)) parser.unregisterFilter(name);
  for (const name of liquidFilters.keys()) parser.registerFilter(name, (value: unknown) => value);
  return parser;
}

function parse(source: string): Parsed[] {
  try {
    return getParser().parse(source);
  } catch (error) {
    const cause = (error as { originalError?: unknown }).originalError;
    if (error instanceof RangeError || cause instanceof RangeError) {
      throw new TemplateError("limit_exceeded", "The template is nested too deeply.");
    }
    if (!(error instanceof LiquidError)) throw error;
    const message = (cause instanceof Error ? cause.message : error.message).replace(/, line:\d+, col:\d+$/, "");
    throw new TemplateError("syntax_error", message.slice(0, 200), positionOf((error as LiquidError).token));
  }
}

function positionOf(token: { getPosition(): number[] }): Position {
  const [line = 1, column = 1] = token.getPosition();
  return { line, column };
}
