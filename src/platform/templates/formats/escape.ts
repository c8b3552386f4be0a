const special = /[&<>"'`]/;
const specials = /[&<>"'`]/g;
const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  "`": "&#96;",
};

/** Text as it stands in HTML, in elements and in quoted attributes. */
export function escapeHtml(text: string): string {
  return special.test(text) ? text.replace(specials, (character) => entities[character]!) : text;
}

/** Text as it stands in Slack's markup, where it mentions nobody and links nowhere. */
function escapeSlack(text: string): string {
  return text.replace(/[&<>]/g, (character) => entities[character]!);
}

/** What values are escaped for: the markup that they are put into. */
export type Markup = "html" | "slack";

/** How values are escaped in each kind of markup. */
export const escapers: Readonly<Record<Markup, (text: string) => string>> = { html: escapeHtml, slack: escapeSlack };
