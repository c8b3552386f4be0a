/**
 * HTML: builds documents from templates, with escaped texts.
 */

/** Text that is HTML already. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Value = Html | string | number | false | undefined | readonly Html[];

/** Builds HTML. Texts are escaped; false and undefined are left out. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  let text = parts[0]!;
  for (const [at, value] of values.entries()) text += render(value) + parts[at + 1]!;
  return new Html(text);
}

function render(value: Value): string {
  if (value === false || value === undefined) return "";
  if (value instanceof Html) return value.text;
  if (Array.isArray(value)) return value.map(render).join("");
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
