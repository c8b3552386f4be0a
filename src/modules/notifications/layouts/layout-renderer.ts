import {
  compileTemplate,
  type FindPartial,
  type RenderOptions,
  reportTemplateErrors,
} from "../../../platform/templates/index.ts";
import { isMarkup } from "./domain/channel.ts";
import { type Layout, placeholder } from "./domain/layout.ts";

/** The rendered content of a notification, inserted into a layout unchanged. */
export interface Content {
  readonly body: string;
  /** The plain-text version, on channels that have both. */
  readonly text?: string | undefined;
}

type Values = Readonly<Record<string, unknown>>;
type Templates = Pick<Layout, "engine" | "body" | "textBody">;

/** Wraps content in a layout. The content itself is never evaluated as a template. */
export function wrap(
  { engine, body, textBody }: Templates,
  content: Content,
  values: Values,
  options: Omit<RenderOptions, "raw">,
): { body: string; text: string } {
  const wrapped = compileTemplate(engine, body).render(values, { ...options, raw: { [placeholder]: content.body } });
  const text = content.text ?? "";
  if (textBody === "") return { body: wrapped, text: options.escape === "html" ? text : wrapped };
  const raw = { [placeholder]: content.text ?? content.body };
  return { body: wrapped, text: compileTemplate(engine, textBody).render(values, { ...options, escape: "none", raw }) };
}

/** A layout rendered around sample content, with the variables that the sample does and does not provide. */
export interface Preview {
  readonly body: string;
  readonly textBody: string;
  readonly resolved: readonly string[];
  readonly unresolved: readonly string[];
}

/** The content of previews; constant, so that previews can be compared. */
const previewContent = { markup: "<div>[content]</div>", text: "[content]" } as const;

/** Renders a layout with sample values; throws when a template fails or exceeds its work budget. */
export function preview(
  layout: Templates & Pick<Layout, "channel" | "variables">,
  sample: Values,
  partials: FindPartial,
  nowMs: number,
): Preview {
  const missing = new Set<string>(layout.variables.filter((path) => !hasPath(sample, path)));
  const onMissing = (path: string) => missing.add(path);
  const render = (source: string, asMarkup: boolean) =>
    compileTemplate(layout.engine, source).render(sample, {
      escape: asMarkup ? "html" : "none",
      nowMs,
      onMissing,
      partials,
      raw: { [placeholder]: asMarkup ? previewContent.markup : previewContent.text },
    });
  const body = reportTemplateErrors("body", () => render(layout.body, isMarkup(layout.channel)));
  const textBody =
    layout.textBody === "" ? "" : reportTemplateErrors("text_body", () => render(layout.textBody, false));
  return {
    body,
    textBody,
    resolved: layout.variables.filter((path) => !missing.has(path)),
    unresolved: [...missing].sort(),
  };
}

/** Properties that Liquid derives from lists and texts. */
const derivedProperties = new Set(["size", "first", "last", "length"]);

/** Whether a path resolves to a value in a sample. */
function hasPath(sample: Values, path: string): boolean {
  let value: unknown = sample;
  for (const part of path.split(".")) {
    if (value === null || value === undefined) return false;
    if (typeof value !== "object" || !Object.hasOwn(value, part))
      return typeof value !== "number" && derivedProperties.has(part);
    value = (value as Values)[part];
  }
  return value !== undefined;
}
