/**
 * Templates: the content of notifications, written by tenants in Handlebars or Liquid.
 *
 * Template authors are not trusted: work, size and depth are limited, only own properties of values are visible, and templates
 * cannot include files or call functions. Partials are templates that the caller of a rendering provides by name.
 *
 * engine: the template language. raw: a text that is inserted unchanged and never evaluated.
 * printed: a name whose value the template writes. missing: a path without a value, which writes nothing.
 */
export { applyCasing, type Casing } from "./formats/casing.ts";
export type { Markup } from "./formats/escape.ts";
export type { Template } from "./plan.ts";
export { repairTemplate } from "./repair.ts";
export { type FindPartial, newWorkBudget, type RenderOptions } from "./run.ts";
export { compileTemplate, type Engine } from "./template.ts";
export { reportTemplateErrors, TemplateError, type TemplateErrorCode } from "./template-error.ts";
