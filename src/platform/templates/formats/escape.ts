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

/** Escapes text for HTML elements and quoted attributes. */
export function escapeHtml(text: string): string {
  return special.test(text) ? text.replace(specials, (character) => entities[character]!) : text;
}

/** Escapes text for Slack's markup, so that it cannot create mentions or links. */
function escapeSlack(text: string): string {
  return text.replace(/[&<>]/g, (character) => entities[character]!);
}

/** The markup that values are escaped for. */
export type Markup = "html" | "slack";

/** The escape function of each kind of markup. */
export const escapers: Readonly<Record<Markup, (text: string) => string>> = { html: escapeHtml, slack: escapeSlack };
