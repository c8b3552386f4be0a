import { compileTemplate, TemplateError } from "../../../platform/templates/index.ts";
import { type CheckTemplate, templatesIn } from "./domain/content-validation.ts";
import type { ChannelContent } from "./domain/workflow.ts";

/** Checks a template by compiling it. */
export const checkTemplateSyntax: CheckTemplate = (engine, source) => {
  try {
    compileTemplate(engine, source);
    return undefined;
  } catch (error) {
    if (error instanceof TemplateError) return error;
    throw error;
  }
};

/** The partials that the valid templates of a channel include. */
export function partialsIn(content: ChannelContent): ReadonlySet<string> {
  const names = templatesIn(content).flatMap((source) => [...compileTemplate(content.engine, source).partials]);
  return new Set(names);
}
