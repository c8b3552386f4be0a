import { compileTemplate, TemplateError } from "../../../platform/templates/index.ts";
import type { CheckTemplate } from "./domain/content-validation.ts";

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
