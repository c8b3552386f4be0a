import {
  compileTemplate,
  type Engine,
  newWorkBudget,
  type RenderOptions,
  TemplateError,
} from "../../../../platform/templates/index.ts";
import type { ProviderMarkup } from "../../providers/index.ts";
import { toSendableText } from "./sendable-text.ts";
import type { TemplateValues } from "./template-values.ts";

type Data = Readonly<Record<string, unknown>>;

/** The maximum total size of the texts in a message's data. */
const bytesMax = 64 * 1024;

/**
 * Renders a message's data: every text value is a template, property names are not. All of them share the work budget of
 * one template.
 */
export function renderData(
  data: Data,
  engine: Engine,
  values: TemplateValues,
  options: Omit<RenderOptions, "escape" | "bytesMax" | "work">,
  markup: ProviderMarkup | undefined,
): Data {
  const work = newWorkBudget();
  let bytesLeft = bytesMax;

  function renderText(source: string, isMarkup: boolean): string {
    const limited = { ...options, bytesMax: bytesLeft, work };
    const text = source.includes("{")
      ? compileTemplate(engine, source).render(values, {
          ...limited,
          escape: isMarkup && markup !== undefined ? markup.escape : "none",
        })
      : source;
    bytesLeft -= Buffer.byteLength(text);
    if (bytesLeft < 0)
      throw new TemplateError("too_large", `The texts in data must have at most ${bytesMax} bytes in total.`);
    return toSendableText(text);
  }

  function renderValue(value: unknown, isMarkup: boolean): unknown {
    if (typeof value === "string") return renderText(value, isMarkup);
    if (Array.isArray(value)) return value.map((each) => renderValue(each, isMarkup));
    return typeof value === "object" && value !== null ? renderObject(value as Data) : value;
  }

  function renderObject(holder: Data): Data {
    const members = Object.entries(holder).map(
      ([name, value]) => [name, renderValue(value, markup?.isMarkup(holder, name) ?? false)] as const,
    );
    return Object.fromEntries(members);
  }

  return renderObject(data);
}
