import {
  compileTemplate,
  type Engine,
  newWorkBudget,
  type RenderOptions,
  TemplateError,
} from "../../../../platform/templates/index.ts";
import type { ProviderMarkup } from "../../providers/index.ts";
import type { TemplateValues } from "./template-values.ts";

type Data = Readonly<Record<string, unknown>>;

/** The most bytes that the texts of a message's data may take together. */
const bytesMax = 64 * 1024;

/**
 * Makes what goes along with a message: every text in it is a template. All of them together may do as much work as one
 * template. Names are never templates.
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
    if (bytesLeft < 0) throw new TemplateError("too_large", `The texts of the data take more than ${bytesMax} bytes.`);
    return text.toWellFormed();
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
