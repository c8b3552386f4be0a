import { invalid } from "../../../errors/index.ts";
import {
  compileTemplate,
  type Engine,
  repairTemplate,
  reportTemplateErrors,
  type Template,
} from "../../../platform/templates/index.ts";
import { type LayoutDetails, placeholder } from "./domain/layout.ts";

/** References in the templates of a layout. */
export interface LayoutReferences {
  /** Sorted, without the content. */
  readonly variables: readonly string[];
  readonly partials: ReadonlySet<string>;
}

/** Returns the references of a layout's templates; throws when a template is invalid or lacks the placeholder. */
export function checkTemplates({
  engine,
  body,
  textBody,
}: Pick<LayoutDetails, "engine" | "body" | "textBody">): LayoutReferences {
  const templates = [compileChecked("body", engine, body)];
  if (textBody !== "") templates.push(compileChecked("text_body", engine, textBody));
  const variables = new Set(templates.flatMap((template) => template.variables));
  variables.delete(placeholder);
  const partials = new Set(templates.flatMap((template) => [...template.partials]));
  return { variables: [...variables].sort(), partials };
}

function compileChecked(field: "body" | "text_body", engine: Engine, source: string): Template {
  const repair = () => repairTemplate(engine, source);
  const template = reportTemplateErrors(field, () => compileTemplate(engine, source), repair);
  if (template.printed.has(placeholder)) return template;
  throw invalid(
    field,
    "placeholder",
    `must contain {{ ${placeholder} }} where it is rendered, not in a comment or raw block`,
  );
}
