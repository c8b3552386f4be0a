import { type Failure, invalid } from "../../../errors/index.ts";
import { compileTemplate, type Template, TemplateError } from "../../../platform/templates/index.ts";
import { type LayoutText, placeholder } from "./domain/layout.ts";

/** What the templates of a layout read, but for the content; throws when one is no template, or has no place for it. */
export function checkTemplates({ engine, body, textBody }: Pick<LayoutText, "engine" | "body" | "textBody">): string[] {
  const templates = [checked("body", () => compileTemplate(engine, body))];
  if (textBody !== "") templates.push(checked("text_body", () => compileTemplate(engine, textBody)));
  const variables = new Set(templates.flatMap((template) => template.variables));
  variables.delete(placeholder);
  return [...variables].sort();
}

function checked(field: "body" | "text_body", compile: () => Template): Template {
  const template = inField(field, compile);
  if (template.printed.has(placeholder)) return template;
  throw invalid(
    field,
    "placeholder",
    `must contain {{ ${placeholder} }} where it can be reached: not in a comment or in raw text`,
  );
}

/** Does what may fail in a template of a layout; says where in which one it did. */
export function inField<T>(field: "body" | "text_body", work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof TemplateError) throw templateFailure(field, error);
    throw error;
  }
}

function templateFailure(field: string, { code, message, line, column }: TemplateError): Failure {
  const place = line === undefined ? "" : `line ${line}, column ${column}: `;
  return invalid(field, `template.${code}`, place + message);
}
