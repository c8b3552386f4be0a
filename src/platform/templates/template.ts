import { BoundedCache } from "./cache.ts";
import { compileHandlebars } from "./handlebars/handlebars.ts";
import { compileLiquid } from "./liquid/liquid.ts";
import type { Template } from "./plan.ts";
import { TemplateError } from "./template-error.ts";

/** A language of templates. */
export type Engine = "handlebars" | "liquid";

/** Characters of source that are kept compiled, for each engine. */
const cachedCharactersMax = 16 * 1024 * 1024;
/** What a template costs in memory besides its text, in characters. */
const templateWeight = 2000;

const compilers = { handlebars: compileHandlebars, liquid: compileLiquid } as const;
// One for each engine: a key made of both would be a new text to go through, every time.
const caches = {
  handlebars: new BoundedCache<Template | TemplateError>(cachedCharactersMax),
  liquid: new BoundedCache<Template | TemplateError>(cachedCharactersMax),
} as const;

/** Compiles a template, or takes it from those that were compiled lately; throws a TemplateError when it is not one. */
export function compileTemplate(engine: Engine, source: string): Template {
  const cache = caches[engine];
  let found = cache.get(source);
  if (found === undefined) {
    found = compiled(engine, source);
    // One that is too large is refused at once, and would be kept for nothing.
    if (!(found instanceof TemplateError && found.code === "too_large")) {
      cache.set(source, found, source.length + templateWeight);
    }
  }
  if (found instanceof TemplateError) throw new TemplateError(found.code, found.message, positionOf(found));
  return found;
}

function compiled(engine: Engine, source: string): Template | TemplateError {
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
