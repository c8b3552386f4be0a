import { compileTemplate, TemplateError } from "../../../platform/templates/index.ts";
import type { CheckTemplate } from "./domain/check-content.ts";

/** Has templates compiled, and says what the compiler says. */
export const compiledTemplate: CheckTemplate = (engine, source) => {
  try {
    compileTemplate(engine, source);
    return undefined;
  } catch (error) {
    if (error instanceof TemplateError) return error;
    throw error;
  }
};
