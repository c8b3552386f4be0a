import { compileTemplate, type RenderOptions } from "../../../platform/templates/index.ts";
import { isMarkup } from "./domain/channel.ts";
import { type Layout, placeholder } from "./domain/layout.ts";
import { inField } from "./template-check.ts";

/** What goes into a layout: rendered already, and put in as it is. */
export interface Content {
  readonly body: string;
  /** The same without markup, where the channel has both. */
  readonly text?: string | undefined;
}

type Values = Readonly<Record<string, unknown>>;
type Templates = Pick<Layout, "engine" | "body" | "textBody">;

/** Puts content into a layout. It is never evaluated again, whatever it looks like. */
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

/** A layout as it looks around a stand-in, and what of its variables a sample gave. */
export interface Preview {
  readonly body: string;
  readonly textBody: string;
  readonly resolved: readonly string[];
  readonly unresolved: readonly string[];
}

/** What stands where the content will be; always the same, so that previews can be compared. */
const standIn = { markup: "<div>[content]</div>", text: "[content]" } as const;

/** Renders a layout against a sample; throws when its templates do too much with it. */
export function preview(layout: Templates & Pick<Layout, "channel" | "variables">, sample: Values): Preview {
  const missing = new Set<string>(layout.variables.filter((path) => !resolves(sample, path)));
  const onMissing = (path: string) => missing.add(path);
  const render = (source: string, asMarkup: boolean) =>
    compileTemplate(layout.engine, source).render(sample, {
      escape: asMarkup ? "html" : "none",
      onMissing,
      raw: { [placeholder]: asMarkup ? standIn.markup : standIn.text },
    });
  const body = inField("body", () => render(layout.body, isMarkup(layout.channel)));
  const textBody = layout.textBody === "" ? "" : inField("text_body", () => render(layout.textBody, false));
  return {
    body,
    textBody,
    resolved: layout.variables.filter((path) => !missing.has(path)),
    unresolved: [...missing].sort(),
  };
}

/** What Liquid knows of any list, and of texts. */
const derived = new Set(["size", "first", "last", "length"]);

/** Whether a path from the top names something in a sample. */
function resolves(sample: Values, path: string): boolean {
  let value: unknown = sample;
  for (const part of path.split(".")) {
    if (value === null || value === undefined) return false;
    if (typeof value !== "object" || !Object.hasOwn(value, part)) return typeof value !== "number" && derived.has(part);
    value = (value as Values)[part];
  }
  return value !== undefined;
}
