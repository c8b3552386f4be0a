import { BoundedCache } from "../cache/bounded-cache.ts";
import { shareOf } from "../process-share/process-share.ts";
import { compileHandlebars } from "./handlebars/handlebars.ts";
import { compileLiquid } from "./liquid/liquid.ts";
import type { Template } from "./plan.ts";
import { TemplateError } from "./template-error.ts";

/** A template language. */
export type Engine = "handlebars" | "liquid";

/** The size of each engine's cache on this machine, in characters of source. */
const cachedCharactersMax = 16 * 1024 * 1024;
/** The memory of a compiled template in addition to its source, in characters. */
const templateWeight = 2000;

const compilers = { handlebars: compileHandlebars, liquid: compileLiquid } as const;
// One cache per engine, because a combined key would be a new string that has to be hashed at every lookup.
const caches = {
  handlebars: new BoundedCache<string, Template | TemplateError>(() => shareOf(cachedCharactersMax)),
  liquid: new BoundedCache<string, Template | TemplateError>(() => shareOf(cachedCharactersMax)),
} as const;

/** Compiles a template, or returns it from the cache; throws a TemplateError if it is invalid. */
export function compileTemplate(engine: Engine, source: string): Template {
  const cache = caches[engine];
  let found = cache.get(source);
  if (found === undefined) {
    found = compileUncached(engine, source);
    // A template that is too large is rejected without parsing, so caching it would not save anything.
    if (!(found instanceof TemplateError && found.code === "too_large")) {
      cache.set(source, found, source.length + templateWeight);
    }
  }
  if (found instanceof TemplateError) throw new TemplateError(found.code, found.message, positionOf(found));
  return found;
}

function compileUncached(engine: Engine, source: string): Template | TemplateError {
  try {
    return compilers[engine](source);
  } catch (error) {
    if (error instanceof TemplateError) return error;
    throw error;
  }
}

function positionOf({ line, column }: TemplateError) {
  return line === undefined || column === undefined ? undefined : { line, column };
}
