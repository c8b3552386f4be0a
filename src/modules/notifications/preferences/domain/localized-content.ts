import type { ChannelContent } from "./workflow.ts";

/** Content in one locale. */
export interface LocalizedChoice {
  readonly content: ChannelContent;
  /** The most specific locale with texts; "" if all are the content's own. */
  readonly locale: string;
}

/** Chooses each text for a locale such as de-CH: that of the locale, or else of its language, or else the content's own. */
export function localizedContent(content: ChannelContent, locale: string): LocalizedChoice {
  const wanted = `${locale.replaceAll("_", "-").toLowerCase()}-`;
  const tags = Object.keys(content.locales)
    .filter((tag) => wanted.startsWith(`${tag.toLowerCase()}-`))
    .sort((a, b) => a.length - b.length);
  const given = tags.flatMap((tag) => Object.entries(content.locales[tag]!).filter(([, text]) => text !== ""));
  return { content: { ...content, ...Object.fromEntries(given) }, locale: tags.at(-1) ?? "" };
}
