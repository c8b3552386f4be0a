/**
 * Templates: what notifications say, written by tenants in Handlebars or Liquid.
 *
 * Whoever writes a template is not trusted: work, size and depth are counted, only a value's own members are seen, and
 * nothing is included or called. engine: the language. raw: a text that is put in as it is and never evaluated.
 * printed: a name whose value the template writes somewhere. missing: a path that names nothing; it writes nothing.
 */
export { applyCasing, type Casing } from "./formats/casing.ts";
export type { Markup } from "./formats/escape.ts";
export type { Template } from "./plan.ts";
export { newWorkBudget, type RenderOptions } from "./run.ts";
export { compileTemplate, type Engine } from "./template.ts";
export { TemplateError, type TemplateErrorCode } from "./template-error.ts";
